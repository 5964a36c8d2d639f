"""The system call filter: what it decides, and what a program in the box finds.

The programs of both machines run here in an interpreter of their language, with every number; those of this machine in the
kernel, too.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import platform
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house_bots.random_bot import RandomBot

from referee.errors import DoganaError
from referee.live.matches.play import Command, House, Player, play_match
from referee.live.matches.server import RefereeServer
from referee.match.result import Outcome
from referee.sandbox.filter import ALLOW, ARCHITECTURES, DENY, Policy, bpf, calls
from referee.sandbox.program import ALLOWED, KILLED, Passes, Rule, refused
from tests.patience import patient
from tests.sandbox import probe
from tests.tables import plan_of

POLICIES = {"allow": ALLOW, "deny": DENY}
both = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
machines = pytest.mark.parametrize("machine", ARCHITECTURES)
NO_SUCH_CALL = refused(errno.ENOSYS)
HIGH = 0xDEADBEEF << 32


def run(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Interpret a filter as the kernel does, and return its verdict."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, *(0,) * 6)[:6])
    instructions = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, if_true, if_false, constant = instructions[at]
        at += 1
        match code:
            case 0x20:
                [accumulator] = struct.unpack_from("<I", data, constant)
            case 0x54:
                accumulator &= constant
            case 0x05:
                at += constant
            case 0x15:
                at += if_true if accumulator == constant else if_false
            case 0x25:
                at += if_true if accumulator > constant else if_false
            case 0x35:
                at += if_true if accumulator >= constant else if_false
            case 0x45:
                at += if_true if accumulator & constant else if_false
            case 0x06:
                return int(constant)
            case _:
                raise AssertionError(f"instruction {code:#x}")


def trials(verdict: int | Rule) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield arguments of a call, and what is to become of it."""
    if isinstance(verdict, int):
        yield (), verdict
        return
    before = (0,) * verdict.argument
    for value in {
        0,
        1,
        17,
        1 << 31,
        *verdict.values,
        *(value + 1 for value in verdict.values),
        *(1 << bit for bit in range(32)),
    }:
        passes = {
            Passes.ONLY: value in verdict.values,
            Passes.EXCEPT: value not in verdict.values,
            Passes.WITHOUT: not any(value & bits for bits in verdict.values),
        }[verdict.passes]
        for high in (0, HIGH):
            yield (*before, value | high), ALLOWED if passes else refused(verdict.error)


@both
@machines
def test_each_call_gets_the_verdict_of_its_policy_and_unknown_ones_are_refused(policy: Policy, machine: str) -> None:
    program = bpf(policy, machine)
    architecture = ARCHITECTURES[machine]
    names = {number: name for name, number in calls(machine).items()}
    for number in [*range(1000), *range(1 << 30, (1 << 30) + 1000), (1 << 31) + 1, (1 << 32) - 1]:
        verdict = policy.verdicts.get(names[number], policy.otherwise) if number in names else NO_SUCH_CALL
        for arguments, expected in trials(verdict):
            assert run(program, architecture, number, arguments) == expected, (names.get(number, number), arguments)


@both
@machines
def test_calls_by_the_entry_of_another_machine_end_the_process(policy: Policy, machine: str) -> None:
    i386, arm = 0x40000003, 0x40000028
    for other in {i386, arm, *ARCHITECTURES.values()} - {ARCHITECTURES[machine]}:
        assert run(bpf(policy, machine), other, calls(machine)["getpid"]) == KILLED


@both
def test_a_policy_names_only_calls_that_exist(policy: Policy) -> None:
    """Else a slip of the pen would let a dangerous call through."""
    assert set(policy.verdicts) <= {name for machine in ARCHITECTURES for name in calls(machine)}


def test_what_one_policy_refuses_by_name_the_other_one_does_not_let_through() -> None:
    assert not {name for name, verdict in DENY.verdicts.items() if verdict == NO_SUCH_CALL} & {
        name for name, verdict in ALLOW.verdicts.items() if verdict == ALLOWED
    }


def test_a_machine_whose_calls_are_not_known_is_named() -> None:
    with pytest.raises(DoganaError, match="no filter of system calls for riscv64: known are x86_64, aarch64"):
        bpf(ALLOW, "riscv64")


# libseccomp, where it is installed, knows the numbers too, and compiles policies in another way.


@pytest.fixture(scope="module")
def libseccomp() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("libseccomp is not installed (Debian, Ubuntu: apt-get install libseccomp2)")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_arch_native.restype = ctypes.c_uint32
    return library


@machines
def test_libseccomp_has_the_same_numbers(libseccomp: ctypes.CDLL, machine: str) -> None:
    resolve = libseccomp.seccomp_syscall_resolve_name_arch
    known = {name: resolve(ARCHITECTURES[machine], name.encode()) for name in calls(machine)}
    newer = {name for name, number in known.items() if number < 0}
    recent = range(424, 512)  # of Linux 5.1 and later: libseccomp may be older than these numbers
    assert {calls(machine)[name] for name in newer - {"uprobe", "uretprobe"}} <= set(recent)
    assert {name: number for name, number in known.items() if name not in newer} == {
        name: number for name, number in calls(machine).items() if name not in newer
    }


@both
@machines
def test_libseccomp_decides_the_same_by_number(
    libseccomp: ctypes.CDLL, policy: Policy, machine: str, tmp_path: Path
) -> None:
    architecture = ARCHITECTURES[machine]
    context = ctypes.c_void_p(libseccomp.seccomp_init(policy.otherwise))
    if architecture != libseccomp.seccomp_arch_native():
        assert libseccomp.seccomp_arch_add(context, architecture) == 0
        assert libseccomp.seccomp_arch_remove(context, libseccomp.seccomp_arch_native()) == 0
    compared = {}
    for name, number in calls(machine).items():
        verdict = policy.verdicts.get(name, policy.otherwise)
        if isinstance(verdict, int) and libseccomp.seccomp_syscall_resolve_name_arch(architecture, name.encode()) >= 0:
            compared[number] = verdict
            if verdict != policy.otherwise:
                native = libseccomp.seccomp_syscall_resolve_name(name.encode())
                assert libseccomp.seccomp_rule_add_array(context, verdict, native, 0, None) == 0, name
    exported = tmp_path / "program"
    with exported.open("wb") as file:
        assert libseccomp.seccomp_export_bpf(context, file.fileno()) == 0
    assert len(compared) > 250
    theirs, ours = exported.read_bytes(), bpf(policy, machine)
    assert {number: run(theirs, architecture, number) for number in compared} == compared
    assert {number: run(ours, architecture, number) for number in compared} == compared


# In the kernel of this machine.

BOX = [
    "bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev",
    "--proc", "/proc",
]  # fmt: skip


@pytest.fixture(scope="module")
def bubblewrap() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)")
    tried = subprocess.run([*BOX, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"bubblewrap cannot build a box here: {tried.stderr.strip()}")
    if platform.machine() not in ARCHITECTURES:
        pytest.skip(f"no filter for {platform.machine()}")


def probed(policy: Policy | None) -> dict[str, str]:
    """Run the probe in a box, behind a filter, and return what it found."""
    arguments: list[str] = []
    descriptors = []
    if policy is not None:
        descriptors = [os.memfd_create("filter")]
        os.write(descriptors[0], bpf(policy))
        os.lseek(descriptors[0], 0, os.SEEK_SET)
        arguments = ["--seccomp", str(descriptors[0])]
    try:
        ended = subprocess.run(
            [*BOX, *arguments, "--", sys.executable, "-I", probe.__file__, json.dumps(calls(platform.machine()))],
            capture_output=True,
            pass_fds=descriptors,
            check=True,
        )
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    found: dict[str, str] = json.loads(ended.stdout)
    return found


SAID = {
    "fcntl: ": "EINVAL", "prctl: ": "EINVAL", "socket: ": "EAFNOSUPPORT", "socketpair: ": "EAFNOSUPPORT", "clone: ": "EINVAL",
    "setsockopt: ": "ENOPROTOOPT", "terminal: ": "ENOTTY", "i386: ": "SIGSYS", "sched_set": "EPERM",
    "huge": "EINVAL",
}  # fmt: skip


def wall(attempt: str) -> str:
    """What an attempt is to find: the filter's answer, which differs from the kernel's wherever the kernel has the call."""
    if attempt in probe.HARMLESS:
        return "ok"
    return next((said for beginning, said in SAID.items() if attempt.startswith(beginning)), "ENOSYS")


@both
def test_nothing_dangerous_gets_through_in_the_box(bubblewrap: None, policy: Policy) -> None:
    found = probed(policy)
    expected = {attempt: wall(attempt) for attempt in found}
    if policy is DENY:
        expected["futex_waitv"] = "EINVAL"  # which is harmless, and newer than some kernels
    assert found == expected
    assert not probe.got_through(found)


def test_the_probe_gets_through_where_there_is_no_filter(bubblewrap: None) -> None:
    """Else the test above would prove nothing. What succeeds differs from kernel to kernel; these do on every one."""
    found = probed(None)
    assert {name: found[name] for name in probe.HARMLESS} == dict.fromkeys(probe.HARMLESS, "ok")
    through = {"shmget", "semget", "msgget", "flock", "fcntl: lock", "fcntl: whose lock, high bits set", "adjtimex"}
    through |= {"setsockopt: own filter", "seccomp: own filter", "socket: family 2", "prctl: survive the box"}
    assert through <= set(probe.got_through(found))
    assert sum(said != "ENOSYS" for said in found.values()) > len(found) * 3 / 4


@both
def test_an_agent_plays_a_match_behind_the_filter(bubblewrap: None, policy: Policy, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(bpf(policy))
    agent = [*BOX, "--seccomp", "9", "--", sys.executable, "-m", "house_bots", "random"]
    command = ["sh", "-c", f"exec {shlex.join(agent)} 9<program"]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}

    async def match() -> None:
        async with RefereeServer() as server:
            players: list[Player] = [
                Command(command, environment, tmp_path, join_seconds=patient(60)),
                House(RandomBot),
            ]
            report = await play_match(plan_of(options={"last_turn": 3}), players, server=server)
            assert report.result.seats[0].outcome is Outcome.PLAYED, report.logs[0]

    asyncio.run(match())
