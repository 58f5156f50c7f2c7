"""The gRPC service, on a port of its own in the API's process: the same services, checks and events as REST."""

import os

# grpc reads this when it is imported. The API starts other programs (`lily.api.ingest.sql_analyzer`), but no forked
# child ever uses gRPC; with fork support, gRPC would log a warning at each start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
