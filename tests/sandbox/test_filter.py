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
from referee.sandbox.filter import ARCHITECTURES, VERDICTS, bpf, calls
from referee.sandbox.program import ALLOWED, KILLED, Passes, Rule, refused
from tests.patience import patient
from tests.sandbox import probe
from tests.tables import plan_of

machines = pytest.mark.parametrize("machine", ARCHITECTURES)
NO_SUCH_CALL = refused(errno.ENOSYS)
HIGH = 0xDEADBEEF << 32
DANGEROUS = [
    # Two seats could signal to each other through a file that both can read, by whether the file is locked, was just read,
    # or is in memory.
    """
        flock inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init fanotify_mark
        mincore cachestat readahead fadvise64
    """,
    # Keyrings belong to the user, not to the box. The other objects belong to the box, but use memory that no process limit
    # counts.
    """
        add_key request_key keyctl
        shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
        mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    """,
    """
        ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd pidfd_send_signal kcmp
        get_robust_list migrate_pages move_pages
    """,
    # Rings, programs and page faults: the source of most recent holes. Newer kernels run uprobe and uretprobe whatever a
    # filter says, and end their callers.
    """
        io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_destroy io_cancel io_getevents io_pgetevents
        bpf seccomp userfaultfd perf_event_open uprobe uretprobe landlock_create_ruleset landlock_add_rule landlock_restrict_self
        lsm_get_self_attr lsm_set_self_attr lsm_list_modules vmsplice splice tee
    """,
    """
        clone3 unshare setns mount umount2 pivot_root chroot open_tree open_tree_attr move_mount mount_setattr
        fsopen fsconfig fsmount fspick statmount listmount listns name_to_handle_at open_by_handle_at
        mknod mknodat quotactl quotactl_fd
    """,
    # Resources of the whole machine. sync would keep its disks busy; memfd_secret is memory that nobody else can inspect.
    """
        kexec_load kexec_file_load reboot init_module finit_module delete_module create_module query_module get_kernel_syms
        swapon swapoff acct syslog sync syncfs sync_file_range vhangup iopl ioperm modify_ldt
        settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname
        ioprio_set mbind set_mempolicy set_mempolicy_home_node memfd_secret
    """,
    # Rarely used calls, in which few people have looked for holes.
    """
        personality remap_file_pages lookup_dcookie uselib sysfs ustat _sysctl nfsservctl vserver security tuxcall afs_syscall
        getpmsg putpmsg epoll_ctl_old epoll_wait_old set_thread_area get_thread_area map_shadow_stack rseq_slice_yield
        file_getattr file_setattr setxattrat getxattrat listxattrat removexattrat
    """,
]
"""The names of calls that the filter must never let through."""


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


@machines
def test_each_call_gets_its_verdict_and_unknown_ones_are_refused(machine: str) -> None:
    program = bpf(machine)
    architecture = ARCHITECTURES[machine]
    names = {number: name for name, number in calls(machine).items()}
    for number in [*range(1000), *range(1 << 30, (1 << 30) + 1000), (1 << 31) + 1, (1 << 32) - 1]:
        verdict = VERDICTS.get(names.get(number, ""), NO_SUCH_CALL)
        for arguments, expected in trials(verdict):
            assert run(program, architecture, number, arguments) == expected, (names.get(number, number), arguments)


@machines
def test_calls_by_the_entry_of_another_machine_end_the_process(machine: str) -> None:
    i386, arm = 0x40000003, 0x40000028
    for other in {i386, arm, *ARCHITECTURES.values()} - {ARCHITECTURES[machine]}:
        assert run(bpf(machine), other, calls(machine)["getpid"]) == KILLED


def test_only_calls_that_exist_are_named() -> None:
    """Else a slip of the pen would let a dangerous call through."""
    assert {*VERDICTS, *" ".join(DANGEROUS).split()} <= {name for machine in ARCHITECTURES for name in calls(machine)}


def test_no_dangerous_call_is_let_through() -> None:
    assert not VERDICTS.keys() & " ".join(DANGEROUS).split()


def test_a_machine_whose_calls_are_not_known_is_named() -> None:
    with pytest.raises(DoganaError, match="no filter of system calls for riscv64: known are x86_64, aarch64"):
        bpf("riscv64")


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


@machines
def test_libseccomp_decides_the_same_by_number(libseccomp: ctypes.CDLL, machine: str, tmp_path: Path) -> None:
    architecture = ARCHITECTURES[machine]
    context = ctypes.c_void_p(libseccomp.seccomp_init(NO_SUCH_CALL))
    if architecture != libseccomp.seccomp_arch_native():
        assert libseccomp.seccomp_arch_add(context, architecture) == 0
        assert libseccomp.seccomp_arch_remove(context, libseccomp.seccomp_arch_native()) == 0
    compared = {}
    for name, number in calls(machine).items():
        verdict = VERDICTS.get(name, NO_SUCH_CALL)
        if isinstance(verdict, int) and libseccomp.seccomp_syscall_resolve_name_arch(architecture, name.encode()) >= 0:
            compared[number] = verdict
            if verdict != NO_SUCH_CALL:
                native = libseccomp.seccomp_syscall_resolve_name(name.encode())
                assert libseccomp.seccomp_rule_add_array(context, verdict, native, 0, None) == 0, name
    exported = tmp_path / "program"
    with exported.open("wb") as file:
        assert libseccomp.seccomp_export_bpf(context, file.fileno()) == 0
    assert len(compared) > 250
    theirs, ours = exported.read_bytes(), bpf(machine)
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


def probed(*, is_filtered: bool) -> dict[str, str]:
    """Run the probe in a box, behind the filter or not, and return what it found."""
    arguments: list[str] = []
    descriptors = []
    if is_filtered:
        descriptors = [os.memfd_create("filter")]
        os.write(descriptors[0], bpf())
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


def test_nothing_dangerous_gets_through_in_the_box(bubblewrap: None) -> None:
    found = probed(is_filtered=True)
    assert found == {attempt: wall(attempt) for attempt in found}
    assert not probe.got_through(found)


def test_the_probe_gets_through_where_there_is_no_filter(bubblewrap: None) -> None:
    """Else the test above would prove nothing. What succeeds differs from kernel to kernel; these do on every one."""
    found = probed(is_filtered=False)
    assert {name: found[name] for name in probe.HARMLESS} == dict.fromkeys(probe.HARMLESS, "ok")
    through = {"shmget", "semget", "msgget", "flock", "fcntl: lock", "fcntl: whose lock, high bits set", "adjtimex"}
    through |= {"setsockopt: own filter", "seccomp: own filter", "socket: family 2", "prctl: survive the box"}
    assert through <= set(probe.got_through(found))
    assert sum(said != "ENOSYS" for said in found.values()) > len(found) * 3 / 4


def test_an_agent_plays_a_match_behind_the_filter(bubblewrap: None, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(bpf())
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
