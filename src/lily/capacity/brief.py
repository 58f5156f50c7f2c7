"""What the brief itself expected to pay, to compare a plan with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    what: str
    monthly: float
    assumes: str


ESTIMATES = (
    Estimate(
        "metadata in Iceberg", 500, "10 TB of object storage (230), a catalogue (5), 10 DPU for 2 hours a day (260)"
    ),
    Estimate(
        "metadata in a managed Cassandra",
        520,
        "10,000 writes/s and 50,000 reads/s; at the unit prices named there they would be 129,600 and 144,504 a month, "
        "not 144 each",
    ),
    Estimate("lineage in ArangoDB", 3_275, "3 nodes of 8 vCPU and 64 GB, 5 TB of disk, 10 TB of network"),
    Estimate("lineage in JanusGraph", 7_980, "6 nodes at 1.50 an hour, 6 TB of disk, 10 TB of network"),
)
LOWEST, HIGHEST = 500.0, 8_000.0
DIFFERENCE = (
    "Its 500 pays for cold storage and two hours of batch a day, its 8,000 for the nodes of one graph database; this "
    "plan adds the log, the streaming compute, a serving store with standby and history, and the API, and needs no "
    "graph database (the edges of lineage are not in it yet)."
)
