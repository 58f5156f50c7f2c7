"""The OpenAPI document says what every call can answer, before anything is running."""

import jsonschema_rs
import pytest

from lily.api.documents import PUBLIC
from lily.api.server import build
from lily.model.schemas import SCHEMAS
from lily.relay import change_event
from lily.settings import Limits, Settings
from lily.store.postgres.outbox import Change
