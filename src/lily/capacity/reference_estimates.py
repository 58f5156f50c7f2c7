"""Estimates of other designs for the default workload, to compare a plan with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one design was estimated to cost per month, and what that figure assumes."""

    design: str
    monthly: float
    assumes: str


ESTIMATES = (
    Estimate(
        "metadata in Iceberg",
        500,
        "10 TB of object storage (230), a catalogue (5), 10 DPU for 2 hours per day (260)",
    ),
    Estimate(
        "metadata in a managed Cassandra",
        520,
        "10,000 writes/s and 50,000 reads/s. At the unit prices in that estimate, these would cost 129,600 and "
        "144,504 per month, not 144 each",
    ),
    Estimate("lineage in ArangoDB", 3_275, "3 nodes of 8 vCPU and 64 GB, 5 TB of disk, 10 TB of network"),
    Estimate("lineage in JanusGraph", 7_980, "6 nodes at 1.50 per hour, 6 TB of disk, 10 TB of network"),
)
LOWEST, HIGHEST = 500.0, 8_000.0
DIFFERENCE = (
    "The 500 covers cold storage and two hours of batch jobs per day, the 8,000 the nodes of one graph database. "
    "This plan adds the log, the streaming compute, a serving store with standby and history, and the API. It needs no "
    "graph database; lineage edges are not included yet."
)
