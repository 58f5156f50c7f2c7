"""Encodes and decodes JSON with orjson for every PostgreSQL connection of the process."""

import orjson
from psycopg.types.json import set_json_dumps, set_json_loads

set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)
