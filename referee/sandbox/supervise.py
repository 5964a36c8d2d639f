"""Run one agent and see to it that nothing of it survives: `main`, whose words are a command and its arguments.

With `--box` instead of a command, the agent runs in a box: standard input says in which (`referee.sandbox.box.Box.order`), and
`enter.py` beside this file goes in.

The referee starts this small process for each agent and holds the other end of its standard input. Whatever the agent
starts, in the background or detached, becomes a child of the supervisor at the latest when its own parent ends
(PR_SET_CHILD_SUBREAPER). When standard input closes (the referee says so, or is dead), or when the agent itself
ends, the supervisor kills every descendant and then ends as the agent did: with its exit status, or by its signal.

It needs nothing but the standard library, and little of that: each import would be paid for by every agent. Linux only.
"""

import _signal as signal  # type: ignore[import-not-found]  # what `signal` makes enums of, which takes longer than all else here
import ctypes
import marshal
import os
import resource
import select
import sys
import time

_PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def descendants(top: int) -> "list[int]":
    """Return the processes below one, parents first."""
    found: list[int] = []
    waiting = [top]
    while waiting:
        pid = waiting.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as children:  # noqa: PTH123 pathlib would double the start-up
                below = [int(child) for child in children.read().split()]
        except OSError:
            continue
        found += below
        waiting += below
    return found


def _kill_all(thaw: "tuple[str, str] | None") -> None:
    """Kill until nobody is left; what forks faster than it is found is stopped first.

    Processes that a control group has stopped do not die before they go on: `thaw` is the file that says so, and the word.
    """
    while True:
        if thaw is not None:
            try:
                with open(thaw[0], "w") as switch:  # noqa: PTH123
                    switch.write(thaw[1])
            except OSError:
                pass
        below = descendants(os.getpid())
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                try:
                    os.kill(pid, sign)
                except OSError:  # it may have ended meanwhile
                    continue
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break  # some are not dead yet, or new ones have come
            except ChildProcessError:
                return
        time.sleep(0.001)


def _end_as(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _read_order() -> "dict[str, object]":
    """Read from standard input in which box the agent is to run; what follows stays unread."""
    size = int.from_bytes(_read(8), "big")
    order: dict[str, object] = marshal.loads(_read(size))  # noqa: S302 it comes from the referee
    return order


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            os._exit(1)  # the referee is dead
        data += more
    return bytes(data)


def main() -> None:
    """Run the command of the command line."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # no dump, nor a program that takes it; see core(5)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only the end of our input, or of the agent, ends us
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the referee, which then closes our input
    order = _read_order() if sys.argv[1] == "--box" else None
    thaw: tuple[str, str] | None = order.pop("thaw") if order is not None else None  # type: ignore[assignment]
    supervisor = os.getpid()
    agent = os.fork()
    if agent == 0:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # if the supervisor itself is killed, the agent is too
        if os.getppid() != supervisor:
            os._exit(1)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        try:
            if order is not None:
                import enter  # type: ignore[import-not-found]  # it stands alone, as this file does

                enter.enter(supervisor=supervisor, **order)
            os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 no shell: that is the point
        except OSError as error:
            what = sys.argv[1] if order is None else f"bubblewrap ({error.filename})"
            os.write(2, f"cannot start {what}: {error.strerror}\n".encode())
            os._exit(127)
    ended = os.pidfd_open(agent)
    readable, _, _ = select.select([ended, 0], [], [])
    status = None
    if ended in readable:
        _, status = os.waitpid(agent, 0)
    _kill_all(thaw)
    _end_as(signal.SIGKILL if status is None else status)
