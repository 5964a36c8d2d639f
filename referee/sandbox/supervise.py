"""Run one agent and make sure that no part of it survives. The arguments of the program are the agent's command.

With `--box` instead of a command, the agent runs in a box: standard input describes the box
(`referee.sandbox.box.Box.order`), and `enter.py` beside this file enters it.

The referee starts this small process for each agent and holds the other end of its standard input. Every process that
the agent starts, in the background or detached, becomes a child of the supervisor at the latest when its own parent
ends (PR_SET_CHILD_SUBREAPER). When standard input closes (the referee closes it, or is dead), or when the agent itself
ends, the supervisor kills every descendant and then ends as the agent did: with its exit status, or by its signal.
Where orphans cannot be adopted (`system.py`), it kills those in the agent's session instead; processes that have left
both escape.

It needs only the standard library, and little of that, because every agent pays for each import.
"""

import _signal as signal  # type: ignore[import-not-found]  # `signal` builds enums, slowly
import marshal
import os
import resource
import select
import sys
import time

import system  # type: ignore[import-not-found]  # beside this file


def _kill_all(agent: int, thaw: "tuple[str, str] | None") -> None:
    """Kill all processes below this one; stop them first, in case they fork faster than they are found.

    Processes that a control group has stopped do not die until they are resumed: `thaw` is the file to write to,
    and the text to write, to resume them.
    """
    while True:
        if thaw is not None:
            try:
                with open(thaw[0], "w") as switch:  # noqa: PTH123
                    switch.write(thaw[1])
            except OSError:
                pass
        below = system.descendants(os.getpid(), agent)
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
                if below and not system.IS_LINUX:
                    break  # they may not be this process's children
                return
        time.sleep(0.001)


def _end_as(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # Nobody sets the action of SIGKILL, nor of the two signals that the C library keeps for itself.
        if number not in (signal.SIGKILL, 32, 33):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _read_order() -> "dict[str, object]":
    """Read the description of the agent's box from standard input; the rest of the input stays unread."""
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
    """Run the agent that the command line, or with `--box` standard input, describes."""
    system.set_adopting(adopting=True)
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # no core dump, and no program that receives one; see core(5)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only the end of the input, or of the agent, ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the referee, which then closes the input
    order = _read_order() if sys.argv[1] == "--box" else None
    thaw: tuple[str, str] | None = order.pop("thaw") if order is not None else None  # type: ignore[assignment]
    supervisor = os.getpid()
    woken, wakes = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    agent = os.fork()
    if agent == 0:
        system.end_with_parent()  # if the supervisor itself is killed, so is the agent
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
    status = _wait(agent, woken)
    _kill_all(agent, thaw)
    _end_as(signal.SIGKILL if status is None else status)


def _wait(agent: int, woken: int) -> "int | None":
    """Wait until the agent has ended, and return its status; None if the input closes first."""
    while True:
        readable, _, _ = select.select([woken, 0], [], [])
        if woken in readable:
            os.read(woken, 4096)  # some process has ended: the agent, or an adopted orphan
            ended, status = os.waitpid(agent, os.WNOHANG)
            if ended:
                return status
        if 0 in readable:
            return None
