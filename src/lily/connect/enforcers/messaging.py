"""What enforcers that send messages have in common: nothing can be read, and a plan is the messages to send."""

from collections.abc import Sequence

from lily.connect.enforcers.messages import steps
from lily.connect.signing import SigningConfig, signer
from lily.model.errors import Terminal
from lily.plugins import Decision, Drift, Plan, Surroundings


class Messaging:
    """The part of the port that does not depend on how messages are sent. Holds no connection between calls."""

    def __init__(self, config: SigningConfig) -> None:
        self._signer = signer(config.secrets)
        self._surroundings: Surroundings | None = None

    @property
    def place(self) -> Surroundings:
        """Raises Terminal if `situate` was not called."""
        if self._surroundings is None:
            raise Terminal("the enforcer does not know for which target it is; call `situate` first")
        return self._surroundings

    def situate(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def inventory(self) -> None:
        return None

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        return Plan(steps(decisions, self.place))

    def verify(self, decisions: Sequence[Decision]) -> list[Drift]:  # noqa: ARG002 - nothing can be read
        return []

    def close(self) -> None:
        """Holds nothing."""
