"""Measure speed next to that of other programs, in the same run: `make bench`.

Figures vary with the machine; ratios vary less.
"""

import os

# As `ladder.__main__` does for the command: gRPC reads these when it is first imported.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
