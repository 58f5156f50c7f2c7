"""The configuration of intakes that have none."""

from pydantic import BaseModel, ConfigDict


class NoSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")
