"""The gRPC door, on a port of its own in the API's process: the same services, checks and events as REST."""

import os

# grpc reads this when it is imported. The API starts programs (`lily.api.ingest.sql_analyzer`) and never continues in a
# forked child; gRPC's fork support would only log a complaint at each start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
