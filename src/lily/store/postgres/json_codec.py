"""How values travel between Python and PostgreSQL: JSON through orjson, for every connection of the process."""

import orjson
from psycopg.types.json import set_json_dumps, set_json_loads

set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)
