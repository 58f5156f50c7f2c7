"""The gRPC door, on a port of its own in the API's process: the same parts, checks and events as REST."""

import os

# The library reads it when it is loaded. The API starts programs (`lily.api.analyst`) and never forks to go on in the
# child; gRPC's readiness for that would only complain in the log at each start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
