"""The system calls that an agent may make: the barrier between a stranger's program and the kernel.

Most attacks on a kernel begin with a call that no game-playing program makes. `VERDICTS` lists the calls that runtimes
need; the rest are refused as if the kernel did not have them (ENOSYS), so that libraries fall back to older calls.

Namespaces, missing privileges and limits stop many of these calls already. The filter refuses them, too,
because kernel code that cannot be reached cannot be attacked.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from referee.errors import DoganaError
from referee.sandbox.program import ALLOWED, Passes, Rule, assemble, refused

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The constant AUDIT_ARCH_* of each supported architecture, in the order of the columns of `calls.txt`."""

# The calls that are permitted. clone3 is excluded because its flags lie in memory, where no filter sees them;
# libraries then use clone. io_uring is excluded because it makes calls past the filter.
_OPEN_FILES = """
    open openat creat close close_range read write readv writev pread64 pwrite64 preadv pwritev lseek sendfile
    dup dup2 dup3 pipe pipe2 eventfd eventfd2 fsync fdatasync ftruncate fallocate
"""
_NAMES_OF_FILES = """
    stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents getdents64
    getcwd chdir fchdir truncate umask chmod fchmod fchmodat
    mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
"""
_WAITING = """
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    timerfd_create timerfd_settime timerfd_gettime signalfd signalfd4
"""
_SOCKETS = """
    bind listen accept accept4 connect shutdown getsockname getpeername getsockopt
    sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
"""
_MEMORY = "brk mprotect munmap mremap madvise msync membarrier"
# Signals, priorities and limits reach only the processes of the box, because other processes have no id there.
_TASKS = """
    fork vfork execve exit exit_group wait4 waitid set_tid_address set_robust_list futex rseq arch_prctl
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min
    getpriority setpriority getrlimit setrlimit prlimit64 getrusage
"""
_SIGNALS = """
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack restart_syscall
    kill tkill tgkill pause alarm getitimer setitimer
    timer_create timer_settime timer_gettime timer_getoverrun timer_delete
"""
_WHO_AND_WHEN = """
    getpid getppid gettid getpgid getpgrp setpgid getsid setsid
    getuid geteuid getresuid getgid getegid getresgid getgroups capget
    uname sysinfo getcpu getrandom times time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep
"""

# Refused as by a file system without attributes (EOPNOTSUPP). Python's `shutil.copy2` accepts no other refusal.
_ATTRIBUTES = """
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
"""
# Ignored with success (errno 0), as on a file system without times, because programs that copy files expect success.
# Anybody may set the times of /dev/null to the present, which would be a message to other boxes and to the next match.
_TIMES = "utime utimes futimesat utimensat"
# Refused as for any user without privileges (EPERM). Where no control group limits an agent to its cores, it could
# leave them.
_NOT_PERMITTED = """
    chown lchown fchown fchownat sched_setaffinity sched_setscheduler sched_setparam sched_setattr
"""

# In its own namespace, of users, mounts or networks, a program is root over much of the kernel's code.
# 0x80 is CLONE_NEWTIME in other calls; here it would be part of a signal's number. A kernel without namespaces also
# says EINVAL.
_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_CLONE = Rule(0, Passes.WITHOUT, (_NEW_NAMESPACES,), errno.EINVAL)

# MAP_HUGETLB, MFD_HUGETLB: memory that a control group's limit does not count.
_MMAP = Rule(3, Passes.WITHOUT, (0x40000,), errno.EINVAL)
_MEMFD_CREATE = Rule(1, Passes.WITHOUT, (0x4,), errno.EINVAL)

# Only AF_UNIX is needed, for the socket of the seat. Other families reach the kernel's network code (AF_INET,
# AF_NETLINK, AF_PACKET), its ciphers (AF_ALG), or the machine that hosts this one (AF_VSOCK), which no network
# namespace separates.
_FAMILY = Rule(0, Passes.ONLY, (1,), errno.EAFNOSUPPORT)

# SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF: the agent's own programs in the kernel.
_SOCKET_OPTION = Rule(2, Passes.EXCEPT, (26, 50, 51, 52), errno.ENOPROTOOPT)

# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS. Locks and leases are excluded:
# two seats could use them on any file that both can read to signal to each other, and to delay the file's owner. So is
# the size of pipes, because all processes of a user share the total.
_FCNTL = Rule(1, Passes.ONLY, (0, 1, 2, 3, 4, 1030, 1033, 1034), errno.EINVAL)

# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: terminal tests, the number of readable bytes, non-blocking
# mode.
_IOCTL = Rule(1, Passes.ONLY, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451), errno.ENOTTY)

# PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS,
# PR_GET_THP_DISABLE.
_PRCTL = Rule(0, Passes.ONLY, (15, 16, 3, 21, 23, 38, 39, 42), errno.EINVAL)

_NO_SUCH_CALL = refused(errno.ENOSYS)


def _each(*groups: str) -> Iterable[str]:
    return (name for group in groups for name in group.split())


VERDICTS: dict[str, int | Rule] = {
    **dict.fromkeys(
        _each(_OPEN_FILES, _NAMES_OF_FILES, _WAITING, _SOCKETS, _MEMORY, _TASKS, _SIGNALS, _WHO_AND_WHEN), ALLOWED
    ),
    **dict.fromkeys(_each(_ATTRIBUTES), refused(errno.EOPNOTSUPP)),
    **dict.fromkeys(_each(_TIMES), refused(0)),
    **dict.fromkeys(_each(_NOT_PERMITTED), refused(errno.EPERM)),
    "clone": _CLONE,
    "mmap": _MMAP,
    "memfd_create": _MEMFD_CREATE,
    "socket": _FAMILY,
    "socketpair": _FAMILY,
    "setsockopt": _SOCKET_OPTION,
    "fcntl": _FCNTL,
    "ioctl": _IOCTL,
    "prctl": _PRCTL,
}
"""The verdict on each call, by its name. All other calls are refused."""


@cache
def calls(machine: str) -> dict[str, int]:
    """Return the numbers of an architecture's system calls, by name."""
    lines = Path(__file__).with_name("calls.txt").read_text().splitlines()
    column = 1 + list(ARCHITECTURES).index(machine)
    words = (line.split() for line in lines if not line.startswith("#"))
    return {word[0]: int(word[column]) for word in words if word[column] != "-"}


def bpf(machine: str = "") -> bytes:
    """Return the program of the filter, in the format of `bwrap --seccomp`.

    Args:
        machine: the architecture, as in `platform.machine()`; empty for this machine's.

    Raises:
        DoganaError: if the call numbers of this architecture are unknown.
    """
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise DoganaError(
            f"no filter of system calls for {machine}: known are {', '.join(ARCHITECTURES)}; "
            "run bots of strangers on one of these, or add its numbers to referee/sandbox/calls.txt"
        )
    verdicts = {number: VERDICTS.get(name, _NO_SUCH_CALL) for name, number in calls(machine).items()}
    return assemble(verdicts, _NO_SUCH_CALL, ARCHITECTURES[machine])
