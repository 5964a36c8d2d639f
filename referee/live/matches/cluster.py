"""The machines of a Ray cluster, and the slots on them, each of which plays one match at a time.

Ray places the slots, starts their processes and carries their messages. This module counts the slots of each machine,
and plays a match again elsewhere if its machine goes away. It imports Ray only when it joins a cluster.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import grpc

from referee.errors import DoganaError
from referee.terminal import visible

LOCAL = "local"
"""The address of a cluster that consists of this machine alone and ends with the command."""
AUTO = "auto"
"""The address of the cluster that this machine has joined."""
REACH_SECONDS = 5.0
"""The time allowed for the head of a cluster to answer."""
TICK_SECONDS = 1.0
"""The interval between two checks of the slots."""
LOOK_SECONDS = 3.0
"""The time between two checks of the list of machines."""
SPARE_SECONDS = 300.0
"""The time that a slot has in addition to that of its match: to receive the bots, and to replace a worker."""
NOBODY_SECONDS = 60.0
"""The time that a run waits for a slot when no machine has one."""
CLOSE_SECONDS = 10.0
"""The time allowed for slots to end their workers."""
MAX_LOST = 3
"""The number of losses (slots that died or fell silent) after which a match is given back to the caller."""
MAX_START_FAILURES = 3
"""The number of failed starts in a row after which a machine gets no more slots."""
LAG_WINDOW = 10
"""The number of recent matches on a machine that are checked for lag."""
MAX_LAGGED = 5
"""The number of lagged matches (`Result.lagged`) among a machine's last `LAG_WINDOW` that costs the machine a slot."""
_REASON_CHARACTERS = 300
_OBJECT_STORE_BYTES = 512 * 1024 * 1024

T = TypeVar("T")


class ClusterError(DoganaError):
    """A cluster cannot be joined, or cannot play; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """A slot's answer if its machine cannot play; `reason` says why."""

    reason: str


class Slot(Protocol):
    """The object behind a slot, in a process of its own on its machine; `Crew` calls these methods one at a time."""

    def begin(self) -> Sequence[str] | Unfit:
        """Get ready; return a text for each limit that the machine cannot enforce, to be printed once per machine."""

    def play(self, *arguments: Any) -> object:
        """Play a match; return its outcome, or `Unfit`."""

    def rest(self) -> None:
        """Clean up after earlier matches."""

    def close(self) -> None:
        """End all processes of the slot, and remove its files."""


@dataclass(eq=False, slots=True)
class Job(Generic[T]):
    """A match for a slot."""

    what: T
    """The caller's label, which comes back with the answer."""
    arguments: tuple[object, ...]
    """The arguments of `Slot.play`."""
    max_seconds: float | None
    """The maximum duration; None if it is unknown."""
    lost: int = 0
    """The number of slots that died or fell silent while they were playing the match."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """A finished or lost job."""

    what: T
    answer: object
    """The slot's answer; None if the job was lost `MAX_LOST` times."""
    machine: Machine


@dataclass(eq=False, slots=True)
class Machine:
    """A machine of the cluster."""

    node: str
    """Ray's id for the machine."""
    name: str
    most: int
    """The maximum number of its slots."""
    refused: str = ""
    """The reason why the machine gets no slots; empty if it may have some."""
    failures: int = 0
    """The number of times in a row that a slot has failed to start on the machine."""
    late: deque[bool] = field(default_factory=lambda: deque(maxlen=LAG_WINDOW))
    """For each of the machine's latest matches, True if the match was lagged."""
    said: set[str] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class _Actor(Generic[T]):
    """A slot, as a Ray actor."""

    machine: Machine
    handle: Any
    waits: Any
    """Ray's promise of the slot's next answer; None if the slot is idle."""
    job: Job[T] | None = None
    begun: bool = False
    ticks: int = 0
    """The number of ticks since the slot was last given an order."""


@contextmanager
def joined(address: str, processors: int | None = None) -> Iterator[None]:
    """Join a Ray cluster for the duration of the context.

    Args:
        address: `LOCAL`, `AUTO`, or HOST:PORT of its head, which this machine has joined with `ray start`.
        processors: the number of processors of a cluster that is started here; None for all.

    Raises:
        ClusterError: if the cluster cannot be joined.
    """
    check_address(address)
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # otherwise Ray prints the workers' output on ours
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # otherwise Ray warns
    hook, handlers = sys.excepthook, {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ray = _ray()
    own = (
        {"num_cpus": processors, "include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
        if address == LOCAL
        else {}
    )
    try:
        with _said_by_ray() as said:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL + 1, **own)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        ray.shutdown()
        if address == AUTO and isinstance(error, ConnectionError):
            raise ClusterError(
                "this machine has joined no cluster; join one by: ray start --address HOST:PORT, or start one by: ray start --head"
            ) from error
        why = visible(" ".join(str(error).split()), _REASON_CHARACTERS)
        if any(b"InvalidAuthToken" in line for line in said):
            why = "it wants another token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to the file with it"
        raise ClusterError(f"cannot join the cluster {visible(address)}: {why}") from error
    finally:
        sys.excepthook = hook
        for number, handler in handlers.items():  # Ray ends the process at SIGTERM; commands have their own handlers
            signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _said_by_ray() -> Iterator[list[bytes]]:
    """Capture standard error in this context; the yielded list contains the captured lines afterwards."""
    said: list[bytes] = []
    with tempfile.TemporaryFile() as file:
        ours = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(ours, 2)
            os.close(ours)
            file.seek(0)
            said += file


def check_address(address: str, reach_seconds: float = REACH_SECONDS) -> None:
    """Check that a cluster answers at an address within `reach_seconds`, because Ray would wait for minutes.

    Raises:
        ClusterError: if the text is not an address, or no cluster answers there.
    """
    if address in (LOCAL, AUTO):
        return
    host, _, port = address.rpartition(":")
    # Python reads no number with thousands of digits.
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 1 << 16
    if "://" in address or not host or not is_port:
        raise ClusterError(
            f"--ray {visible(address)} is not a cluster: say {AUTO}, {LOCAL} or HOST:PORT of its head, which this machine has"
            " joined by: ray start --address HOST:PORT"
        )
    try:
        _reach(address, reach_seconds)
    except OSError as error:
        raise ClusterError(
            f"no cluster answers at {visible(address)} ({error.strerror or error}); start its head: ray start --head"
        ) from error
    if os.environ.get("RAY_USE_TLS") == "1":  # then only Ray can connect
        return
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(reach_seconds)
        except grpc.FutureTimeoutError as error:
            raise ClusterError(
                f"what answers at {visible(address)} is not the head of a cluster; see: ray status"
            ) from error


def _reach(address: str, seconds: float = REACH_SECONDS) -> None:
    """Open a connection to an address, and close it.

    Raises:
        OSError: if the connection fails.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), seconds).close()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ClusterError("--ray needs Ray: pip install 'dogana-arena[ray]'") from error
    return ray


def share(what: object) -> object:
    """Store an object in the joined cluster; return a reference to it for slots on any machine.

    If a reference is among a slot's arguments, Ray replaces it with the object.
    """
    return _ray().put(what)


class Crew(Generic[T]):
    """Slots on the machines of the joined cluster; use it as a context manager."""

    def __init__(
        self, slot: type[Slot], arguments: tuple[object, ...], most: int | None, tell: Callable[[str], None]
    ) -> None:
        """Prepare slots.

        Args:
            slot: the class of the slots; the machines import its module.
            arguments: the arguments of each slot.
            most: the maximum number of slots; None for one per processor of the cluster.
            tell: a function called with remarks about machines.
        """
        self._ray = _ray()
        self._head = str(self._ray.get_runtime_context().gcs_address)
        # Ray must not retry, which would hide the failing machine and the number of losses of a match.
        self._make = self._ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(slot)
        self._arguments = arguments
        self._most = most
        self._tell = tell
        self._machines: dict[str, Machine] = {}
        self._actors: list[_Actor[T]] = []
        self._again: deque[Job[T]] = deque()
        self._next_look = self._next_tick = self._nobody_since = time.monotonic()

    def __enter__(self) -> Crew[T]:
        """Wait for the first slot.

        Raises:
            ClusterError: if no machine can have a slot.
        """
        try:
            while not self._idle():
                for _ in self._hear():
                    pass
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def play(self, jobs: Iterable[Job[T] | None]) -> Iterator[Done[T]]:
        """Play jobs, and yield each exactly once, when it is done. The next job is taken when a slot is free.

        None among the jobs means that no job is available at the moment; the next attempt follows after a tick, or when
        a job is over.

        Raises:
            ClusterError: if no machine can play any more.
        """
        self._look()  # otherwise a service without matches would not notice that the head is gone
        source = iter(jobs)
        while True:
            dry = False
            while (idle := self._idle()) and not dry:
                job = self._again.popleft() if self._again else next(source, None)
                dry = job is None
                if job is not None:
                    self._give(idle[0], job)
            if dry and not self._busy():
                return
            yield from self._hear()

    def rest(self) -> None:
        """Clean up after earlier matches on all machines. Call it only when no match is running."""
        idle = self._idle()
        for actor in idle:
            actor.waits, actor.ticks = actor.handle.rest.remote(), 0
        while any(actor in self._actors and actor.waits is not None for actor in idle):
            for _ in self._hear():
                pass

    def forget(self) -> None:
        """End all running jobs. Call this after leaving `play` early; the next call of `play` then starts afresh."""
        self._again.clear()
        for actor in self._busy():
            self._drop(actor)

    def refuse(self, machine: Machine, reason: str) -> None:
        """Stop giving jobs to a machine, and report the reason."""
        if not machine.refused:
            machine.refused = reason
            self._say(machine, f"plays no matches: {reason}")
        for actor in [actor for actor in self._actors if actor.machine is machine and actor.job is None]:
            self._drop(actor)

    def note_lag(self, machine: Machine, *, lagged: bool) -> None:
        """Note whether a match was lagged; too many lagged matches cost a machine a slot, but never its last one."""
        machine.late.append(lagged)
        if sum(machine.late) < MAX_LAGGED:
            return
        lagged_matches, matches = sum(machine.late), len(machine.late)
        machine.late.clear()
        if machine.most > 1:
            machine.most -= 1
            what = f"plays {machine.most} at a time from now on"
        else:
            what = "already plays one at a time"
        self._say(machine, f"was late in {lagged_matches} of {matches} matches: it is too slow or too busy, and {what}")

    # Slots

    def _idle(self) -> list[_Actor[T]]:
        return [actor for actor in self._actors if actor.begun and actor.waits is None]

    def _busy(self) -> list[_Actor[T]]:
        return [actor for actor in self._actors if actor.job is not None]

    def _give(self, actor: _Actor[T], job: Job[T]) -> None:
        actor.job, actor.ticks = job, 0
        actor.waits = actor.handle.play.remote(*job.arguments)

    def _hear(self) -> Iterator[Done[T]]:
        """Wait at most one tick for an answer; yield finished jobs, and replace lost slots."""
        self._look()
        waiting = {actor.waits: actor for actor in self._actors if actor.waits is not None}
        wait = max(0.0, min(self._next_tick, self._next_look) - time.monotonic())
        if waiting:
            ready, _ = self._ray.wait(list(waiting), num_returns=1, timeout=wait)
        else:
            ready = []
            time.sleep(wait)
        for actor in [waiting[promise] for promise in ready]:
            try:
                answer = self._ray.get(actor.waits)
            except Exception as error:  # also an unreadable answer from a machine
                died = actor.begun and isinstance(error, self._ray.exceptions.RayActorError)
                yield from self._lose(actor, "its slot has died or cannot be reached" if died else _why(error))
            else:
                yield from self._take(actor, answer)
        if time.monotonic() >= self._next_tick:
            self._next_tick = time.monotonic() + TICK_SECONDS
            for actor in [actor for actor in self._actors if actor.waits is not None]:
                yield from self._tick(actor)

    def _take(self, actor: _Actor[T], answer: object) -> Iterator[Done[T]]:
        machine, job, actor.waits = actor.machine, actor.job, None
        if isinstance(answer, Unfit):
            actor.job = None
            if job is not None:  # the match was not begun
                self._again.append(job)
            self.refuse(machine, visible(answer.reason))
        elif job is not None:
            actor.job = None
            # The slot is dropped only now, so that its match is not lost; `note_lag` and `refuse` spare busy slots.
            if machine.refused or self._of(machine) > machine.most:
                self._drop(actor)
            yield Done(job.what, answer, machine)
        elif not actor.begun:
            actor.begun, machine.failures = True, 0
            for loss in answer if isinstance(answer, list) else ():
                self._say(machine, visible(str(loss)))

    def _tick(self, actor: _Actor[T]) -> Iterator[Done[T]]:
        """Check a busy slot for silence."""
        if not actor.begun:  # other programs may use its processor for any length of time
            return
        actor.ticks += 1
        allowed = SPARE_SECONDS / TICK_SECONDS
        if actor.job is not None:
            if actor.job.max_seconds is None:
                return
            allowed += actor.job.max_seconds / TICK_SECONDS
        if actor.ticks > allowed:
            yield from self._lose(actor, f"nothing was heard of it for {actor.ticks * TICK_SECONDS:g} s")

    def _lose(self, actor: _Actor[T], reason: str) -> Iterator[Done[T]]:
        """Remove a slot that has died or is silent; its job is played again, or given back to the caller."""
        machine, job = actor.machine, actor.job
        self._drop(actor)
        # Idle slots on the machine are dropped, too, because the machine itself may have died.
        for idle in [idle for idle in self._idle() if idle.machine is machine]:
            self._drop(idle)
        if not actor.begun:
            machine.failures += 1
            if machine.failures >= MAX_START_FAILURES and machine.node in self._machines:
                self.refuse(machine, reason)
        if job is None:
            return
        job.lost += 1
        self._tell(f"machine {machine.name}: a match was lost: {reason}")
        if job.lost < MAX_LOST:
            self._again.append(job)
        else:
            yield Done(job.what, None, machine)

    def _drop(self, actor: _Actor[T]) -> None:
        """End a slot at once, and ignore its further answers."""
        self._actors.remove(actor)
        actor.job = actor.waits = None
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor.handle)

    # Machines

    def _look(self) -> None:
        """Update the list of machines from time to time, and start missing slots.

        Raises:
            ClusterError: if the cluster is gone, or has had no slot for too long.
        """
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        try:  # Ray would wait for a minute, then end this process
            _reach(self._head)
        except OSError as error:
            raise ClusterError(
                f"the head of the cluster, at {self._head}, went away; start it again, and then this"
            ) from error
        nodes = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        for gone in [machine for node, machine in self._machines.items() if node not in nodes]:
            del self._machines[gone.node]
            self._tell(f"machine {gone.name} went away")
        for node, known in nodes.items():
            processors = int(known["Resources"].get("CPU", 0))
            if node not in self._machines and processors:
                name = f"{visible(str(known['NodeManagerHostname']))} ({node[:8]})"
                self._machines[node] = Machine(node, name, processors)
        self._start_slots()
        self._check_somebody_plays()

    def _start_slots(self) -> None:
        """Start missing slots, each on the machine that has the fewest slots."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        while self._most is None or len(self._actors) < self._most:
            free = [one for one in self._machines.values() if not one.refused and self._of(one) < one.most]
            if not free:
                return
            machine = min(free, key=self._of)
            # Not "soft": if this machine has gone, Ray would place the slot on another one, even one that was refused.
            place = NodeAffinitySchedulingStrategy(node_id=machine.node, soft=False)
            handle = self._make.options(scheduling_strategy=place).remote(*self._arguments)
            self._actors.append(_Actor(machine, handle, handle.begin.remote()))

    def _check_somebody_plays(self) -> None:
        """Check that there is a slot, or that there may be one soon.

        Raises:
            ClusterError: if there is no slot, and none can be expected.
        """
        if any(actor.begun for actor in self._actors):
            self._nobody_since = time.monotonic()
            return
        refused = [f"{one.name}: {one.refused}" for one in self._machines.values() if one.refused]
        if self._machines and len(refused) == len(self._machines):
            raise ClusterError(f"no machine of the cluster can play matches ({'; '.join(refused)})")
        if time.monotonic() - self._nobody_since > NOBODY_SECONDS:
            what = "has a processor to spare" if self._machines else "is there"
            raise ClusterError(f"no machine of the cluster {what}, for {NOBODY_SECONDS:g} s; see: ray status")

    def _of(self, machine: Machine) -> int:
        """Return the number of slots on a machine."""
        return sum(actor.machine is machine for actor in self._actors)

    def _say(self, machine: Machine, text: str) -> None:
        """Print a remark about a machine, unless it has been printed before."""
        if text not in machine.said:
            machine.said.add(text)
            self._tell(f"machine {machine.name} {text}")

    def _close(self) -> None:
        """End all slots; busy ones end at once, the others after they have cleaned up."""
        for actor in [actor for actor in self._actors if actor.waits is not None]:
            self._drop(actor)
        closing = [actor.handle.close.remote() for actor in self._actors]
        if closing:
            with suppress(Exception):
                self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_SECONDS)
        for actor in list(self._actors):
            self._drop(actor)


def forget_main() -> None:
    """Keep a slot's workers from importing Ray's main program, which would waste half a second."""
    with suppress(AttributeError):
        del sys.modules["__main__"].__file__


def _why(error: BaseException) -> str:
    """Return the reason that Ray gives for an error, as one printable line."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException):
        error = cause
    [*_, last] = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if "No module named" in last:
        last = f"Dogana is not installed there as it is here ({last.rpartition(': ')[2]})"
    return visible(last, _REASON_CHARACTERS)
