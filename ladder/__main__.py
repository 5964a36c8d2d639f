"""The command `dogana`, which `dogana_arena` starts after its checks; also run by `python -m ladder`."""

import atexit
import gc
import os
import signal
import sys

from referee.sandbox.system import refuse_windows


def _prepare() -> None:
    """Prepare the process before any other import."""
    for number in range(3):  # `dogana ... >&-`: a file opened later must not become standard output
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w")
    # gRPC reads these when it is first imported. Without these experiments, a round trip takes about a third less time.
    os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # status codes report what goes wrong
    # On exit, Python's garbage collector scans everything that was imported, which takes a fifth of a second of processor time.
    atexit.register(gc.freeze)


def main() -> None:
    """Run the command line."""
    refuse_windows()
    _prepare()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `stop_cleanly`
    from ladder.commands import cli

    cli.main()


if __name__ == "__main__":
    main()
