"""The command `dogana`, also as `python -m ladder`."""

import os
import sys


def _prepare() -> None:
    """Set up what must be so before anything else is imported."""
    for number in range(3):  # `dogana ... >&-`: a file opened later must not become standard output
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w")
    # gRPC reads these when it is first imported. Without these experiments a round trip takes about a third less.
    os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # status codes say what goes wrong


def main() -> None:
    """Run the command line."""
    _prepare()
    from ladder import cli

    cli.main()


if __name__ == "__main__":
    main()
