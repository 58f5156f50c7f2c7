"""Encodes and decodes JSON with orjson for every PostgreSQL connection of the process."""

import orjson
import psycopg
from psycopg.adapt import Loader
from psycopg.types.json import set_json_dumps, set_json_loads

set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)


class _TextLoader(Loader):
    """As psycopg's own, without a call of Python for each value: of a change the relay reads three."""

    load = staticmethod(orjson.loads)  # type: ignore[assignment]  # takes texts as well


for _type in ("json", "jsonb"):
    psycopg.adapters.register_loader(_type, _TextLoader)
