"""The referee: owns the authoritative state of a match and judges the agents that play it."""

import os

# gRPC reads these when it is first imported. Without these experiments a round trip takes about a third less.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what goes wrong is said by status codes
