"""What a run leaves behind: a JSON file with every round's numbers, kept beside those of earlier runs."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from bench.findings import Finding, Outcome, Round

KEPT = Path(__file__).parent / "results"
SCRATCH = KEPT / "scratch"  # quick runs: not kept in git, and never on the page


class Measured(BaseModel):
    """One measurement of one run."""

    findings: list[Finding]
    sizes: dict[str, float]
    rounds: list[Round]
    seconds: float

    @classmethod
    def of(cls, outcome: Outcome, seconds: float) -> "Measured":
        return cls(
            findings=list(outcome.findings), sizes=outcome.sizes, rounds=list(outcome.rounds), seconds=round(seconds, 1)
        )


class RunResults(BaseModel):
    """One run of the benchmark."""

    date: datetime
    quick: bool
    machine: dict[str, str]
    busy_cores_before: float
    measurements: dict[str, Measured] = {}
    failed: dict[str, str] = {}

    def save(self) -> Path:
        folder = SCRATCH if self.quick else KEPT
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.date:%Y-%m-%dT%H%M%SZ}.json"
        path.write_text(self.model_dump_json(indent=1) + "\n")
        return path


def new_results(*, quick: bool, machine: dict[str, str], busy: float) -> RunResults:
    return RunResults(date=datetime.now(UTC), quick=quick, machine=machine, busy_cores_before=busy)


def kept_results() -> list[RunResults]:
    """All runs on record, the oldest first."""
    return [RunResults.model_validate_json(path.read_text()) for path in sorted(KEPT.glob("*.json"))]
