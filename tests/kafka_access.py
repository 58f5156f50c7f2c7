"""The embedded Kafka of a stack: as its administrator for a test, and with the rights of a part for that part."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lily.brokers import Brokers
from lily.embedded.kafka.users import USER_OF, brokers_environment, brokers_of, stack_settings
from lily.embedded.state import load
from lily.settings import Settings


@dataclass(frozen=True)
class KafkaAccess:
    data_dir: Path

    @property
    def brokers(self) -> Brokers:
        return brokers_of(load(self.data_dir))

    @property
    def client(self) -> dict[str, Any]:
        """What a client of librdkafka is configured with."""
        return self.brokers.client()

    def variables_of(self, part: str) -> dict[str, str]:
        """Of a further process beside those of the stack."""
        return brokers_environment(brokers_of(load(self.data_dir), USER_OF[part]))

    def settings(self) -> Settings:
        """With which the engines are looked at."""
        return stack_settings(Settings(), load(self.data_dir))
