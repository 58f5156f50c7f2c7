"""What `lily status` reports about the reactions."""

from lily.reactions.status import REACTIONS
from lily.reactions.worker import RESIDENTS


def test_every_reaction_of_the_worker_is_reported() -> None:
    assert set(REACTIONS) == set(RESIDENTS) - {"relay", "jobs"}
