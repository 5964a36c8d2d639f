"""Try each system call that an attacker could use, and report the outcome: `python -I probe.py NUMBERS`.

NUMBERS is a JSON object with the numbers of this machine's system calls by name. It prints one JSON object with the outcome
of each attempt: `ok`, the name of the errno, or the signal that ended the attempt. It runs in the box to find out which
barriers stand; it needs nothing but the standard library. None of its effects outlives its box, and a successful attempt
does no harm there. Outside a box it would mount over /tmp, so it refuses to run there.
"""

import ctypes
import errno
import json
import mmap
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

_HERE = -100  # AT_FDCWD
_NAMESPACES = {
    "time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
    "pid": 0x20000000, "network": 0x40000000,
}  # fmt: skip
HARMLESS = {"clone", "memfd_create", "socket: family 1", "socketpair: family 1"}
"""Attempts that should succeed, to see that success is possible at all."""
_LIBC = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: "int | bytes | ctypes.Array[ctypes.c_char]") -> int:
    """Make a system call; bytes are passed by address.

    Raises:
        OSError: if it fails.
    """
    result: int = _LIBC.syscall(
        ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    )
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def plain(
    known: "dict[str, int]",
) -> "Iterator[tuple[str, str, tuple[int | bytes | ctypes.Array[ctypes.c_char], ...]]]":
    """Yield the attempts of a single call: a label, the call, and its arguments."""
    own = os.getpid()
    room = ctypes.create_string_buffer(4096)
    shared = os.open(sys.executable, os.O_RDONLY | os.O_CLOEXEC)  # other agents can read it too
    folder = os.open("/", os.O_RDONLY | os.O_CLOEXEC)
    _, pipe = os.pipe()
    span = struct.pack("QQ", ctypes.addressof(room), 8)
    program = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))  # let everything through
    filter_ = struct.pack("HxxxxxxQ", 1, ctypes.addressof(program))
    # Memory that is not counted, survives the match, or is shared by two seats.
    yield "keyctl", "keyctl", (0, -3, 0)
    yield "add_key", "add_key", (b"user", b"dogana", b"x", 1, -2)
    yield "request_key", "request_key", (b"user", b"dogana", 0, 0)
    yield "shmget", "shmget", (0, 4096, 0o1600)
    yield "msgget", "msgget", (0, 0o1600)
    yield "semget", "semget", (0, 1, 0o1600)
    yield "mq_open", "mq_open", (b"dogana", os.O_CREAT | os.O_RDWR, 0o600, 0)
    yield "flock", "flock", (shared, 1)
    lock = struct.pack("hhqqi", 0, 0, 0, 0, 0)
    for name, file, command, argument in (
        ("lock", shared, 6, lock), ("lock, waiting", shared, 7, lock), ("whose lock", shared, 5, lock),
        ("own lock", shared, 37, lock), ("lease", shared, 1024, 0), ("whose lease", shared, 1025, 0),
        ("notify", folder, 1026, 1), ("size of pipe", pipe, 1031, 65536),
    ):  # fmt: skip
        yield f"fcntl: {name}", "fcntl", (file, command, argument)
        yield f"fcntl: {name}, high bits set", "fcntl", (file, command | 1 << 32, argument)
    yield "huge pages", "mmap", (0, 2 << 20, 3, 0x40022, -1, 0)
    yield "huge pages: in a file", "memfd_create", (b"dogana", 4)
    yield "mincore", "mincore", (ctypes.addressof(room) & ~4095, 4096, room)
    yield "cachestat", "cachestat", (shared, struct.pack("QQ", 0, 4096), room, 0)
    yield "readahead", "readahead", (shared, 0, 4096)
    yield "fanotify_init", "fanotify_init", (0x200, 0)
    # Other processes.
    yield "ptrace", "ptrace", (0, 0, 0, 0)
    yield "process_vm_readv", "process_vm_readv", (own, span, 1, span, 1, 0)
    yield "process_vm_writev", "process_vm_writev", (own, span, 1, span, 1, 0)
    yield "kcmp", "kcmp", (own, own, 0, 0, 1)
    yield "sched_setaffinity", "sched_setaffinity", (0, 8, struct.pack("Q", _mask()))
    yield "move_pages", "move_pages", (0, 0, 0, 0, 0, 0)
    yield "migrate_pages", "migrate_pages", (0, 1, span, span)
    for name in ("pidfd_getfd", "pidfd_send_signal", "process_madvise", "process_mrelease", "get_robust_list"):
        yield name, name, (-1, 0, 0, 0, 0)
    # Other ways into the kernel.
    yield "io_uring_setup", "io_uring_setup", (1, bytes(120))
    yield "io_setup", "io_setup", (1, bytes(8))
    yield "userfaultfd", "userfaultfd", (1,)
    yield "bpf", "bpf", (0, struct.pack("IIII", 2, 4, 4, 1), 16)
    yield (
        "perf_event_open",
        "perf_event_open",
        (struct.pack("IIQ", 1, 64, 0) + bytes(24) + struct.pack("Q", 0x62) + bytes(16), 0, -1, -1, 0),
    )
    yield "seccomp", "seccomp", (2, 0, struct.pack("I", 0x7FFF0000))
    yield "seccomp: own filter", "seccomp", (1, 0, filter_)
    yield "prctl: own filter", "prctl", (22, 2, filter_)
    yield "landlock_create_ruleset", "landlock_create_ruleset", (0, 0, 1)
    yield "lsm_list_modules", "lsm_list_modules", (room, struct.pack("I", 4096), 0)
    yield "lsm_get_self_attr", "lsm_get_self_attr", (100, room, struct.pack("I", 4096), 0)
    yield "modify_ldt", "modify_ldt", (0, room, 16)
    yield "memfd_secret", "memfd_secret", (0,)
    yield "remap_file_pages", "remap_file_pages", (0, 0, 0, 0, 0)
    yield "map_shadow_stack", "map_shadow_stack", (0, 4096, 0)
    yield "futex_waitv", "futex_waitv", (0, 0, 0, 0, 0)
    yield "personality: addresses not random", "personality", (0x0040000,)
    yield "personality: what is read can run", "personality", (0x0400000,)
    yield "lookup_dcookie", "lookup_dcookie", (0, room, 16)
    yield "mbind", "mbind", (ctypes.addressof(room) & ~4095, 4096, 0, 0, 0, 0)
    yield "set_mempolicy", "set_mempolicy", (0, 0, 0)
    yield "set_mempolicy_home_node", "set_mempolicy_home_node", (0, 0, 0, 0)
    yield "file_getattr", "file_getattr", (_HERE, b"/", room, 24, 0)
    yield "splice", "splice", (-1, 0, -1, 0, 0, 0)
    yield "vmsplice", "vmsplice", (-1, span, 1, 0)
    yield "prctl: survive the box", "prctl", (1, 0)
    yield "prctl: survive the box, high bits set", "prctl", (1 | 1 << 32, 0)
    yield "prctl: forge /proc/self", "prctl", (35, 0, 0, 0, 0)
    yield "prctl: name memory", "prctl", (0x53564D41, 0, ctypes.addressof(room) & ~4095, 4096, b"dogana")
    # Namespaces and mounts.
    for name, flag in _NAMESPACES.items():
        yield f"unshare: {name}", "unshare", (flag,)
    yield "setns", "setns", (-1, 0)
    yield "mount", "mount", (b"tmpfs", b"/tmp", b"tmpfs", 0, 0)
    yield "umount2", "umount2", (b"/tmp", 2)
    yield "pivot_root", "pivot_root", (b"/tmp", b"/tmp")
    yield "chroot", "chroot", (b"/tmp",)
    yield "open_tree", "open_tree", (_HERE, b"/", 0)
    yield "open_tree: a copy", "open_tree", (_HERE, b"/", 1)
    yield "open_tree_attr", "open_tree_attr", (_HERE, b"/", 0, 0, 0)
    yield "move_mount", "move_mount", (-1, b"", -1, b"", 0)
    yield "mount_setattr", "mount_setattr", (_HERE, b"/", 0, bytes(32), 32)
    yield "fsopen", "fsopen", (b"tmpfs", 0)
    yield "fspick", "fspick", (_HERE, b"/", 0)
    yield "statmount", "statmount", (struct.pack("IIQQ", 24, 0, 1, 1), room, 4096, 0)
    yield "listmount", "listmount", (struct.pack("IIQQ", 24, 0, 2**64 - 1, 0), room, 16, 0)
    yield "listns", "listns", (room, room, 0, 0)
    yield "name_to_handle_at", "name_to_handle_at", (_HERE, b"/tmp", struct.pack("II", 128, 0) + bytes(128), room, 0)
    yield "open_by_handle_at", "open_by_handle_at", (_HERE, bytes(16), 0)
    yield "quotactl", "quotactl", (0x80000100, 0, 0, room)
    yield "quotactl_fd", "quotactl_fd", (-1, 0, 0, 0)
    yield "mknod: a device", "mknodat", (_HERE, b"/tmp/device", 0o20600, 0x103, 0)
    # The machine. Without privileges, each of these fails; with them, these arguments change nothing.
    yield "kexec_load", "kexec_load", (0, 1 << 20, 0, 0)
    yield "init_module", "init_module", (0, 0, b"")
    yield "finit_module", "finit_module", (-1, b"", 0)
    yield "delete_module", "delete_module", (b"there is no such module", 0)
    yield "swapon", "swapon", (b"/nowhere", 0)
    yield "swapoff", "swapoff", (b"/nowhere",)
    yield "reboot", "reboot", (0, 0, 0, 0)
    yield "acct", "acct", (b"/nowhere",)
    yield "syslog", "syslog", (3, room, 4096)
    yield "syncfs", "syncfs", (-1,)
    yield "settimeofday", "settimeofday", (0, 0)
    yield "clock_settime", "clock_settime", (-1, 0)
    yield "adjtimex", "adjtimex", (bytes(256),)
    yield "clock_adjtime", "clock_adjtime", (0, bytes(256))
    yield "sethostname", "sethostname", (b"bot", -1)
    yield "iopl", "iopl", (4,)
    yield "ioperm", "ioperm", (1 << 16, 1, 1)
    # Other entries into the same kernel code: a filter that compares only numbers lets them through.
    if "open" in known:
        yield "x32: getpid", "getpid", (1 << 30,)


def others(known: "dict[str, int]") -> "Iterator[tuple[str, Callable[[], object]]]":
    """Yield the attempts that need several calls."""
    for family in range(1, 47):
        yield f"socket: family {family}", partial(_socket, known["socket"], family)
    yield "socket: family 2, high bits set", partial(_socket, known["socket"], 2 | 1 << 32)
    yield "socketpair: family 1", partial(call, known["socketpair"], 1, 1, 0, bytes(8))
    yield "socketpair: family 30", partial(call, known["socketpair"], 30, 1, 0, bytes(8))
    yield "setsockopt: own filter", partial(_filter_a_socket, known)
    yield "inotify", partial(_watch, known)
    for name, command in ("type", 0x5412), ("Linux console", 0x541C), ("line discipline", 0x5423):
        yield f"terminal: {name}", partial(_terminal, known["ioctl"], command)
        yield f"terminal: {name}, high bits set", partial(_terminal, known["ioctl"], command | 1 << 32)
    for name, flag in _NAMESPACES.items():
        if name != "time":  # clone(2) cannot make it: the bit is part of the signal
            yield f"clone: {name}", partial(_clone, known["clone"], flag | signal.SIGCHLD)
    yield "clone: user, high bits set", partial(_clone, known["clone"], 0x10000000 | 1 << 32 | signal.SIGCHLD)
    yield "clone", partial(_clone, known["clone"], int(signal.SIGCHLD))
    yield "clone3", partial(_clone3, known["clone3"], 0)
    yield "clone3: user", partial(_clone3, known["clone3"], 0x10000000)
    if "open" in known:
        yield "i386: getpid", _i386
    yield "memfd_create", partial(call, known["memfd_create"], b"dogana", 0)


def _mask() -> int:
    return sum(1 << core for core in os.sched_getaffinity(0))


def _socket(number: int, family: int) -> None:
    failed = OSError()
    for kind in (1, 2, 3, 5):
        try:
            os.close(call(number, family, kind, 0))
        except OSError as error:
            failed = error
        else:
            return
    raise failed


def _filter_a_socket(known: "dict[str, int]") -> None:
    ends = ctypes.create_string_buffer(8)
    call(known["socketpair"], 1, 1, 0, ends)
    program = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0xFFFFFFFF))
    call(known["setsockopt"], ends.raw[0], 1, 26, struct.pack("HxxxxxxQ", 1, ctypes.addressof(program)), 16)


def _watch(known: "dict[str, int]") -> None:
    watch = call(known["inotify_init1"], 0)
    call(known["inotify_add_watch"], watch, os.fsencode(sys.executable), 1)


def _terminal(number: int, command: int) -> None:
    terminal = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    call(number, terminal, command, b"\0\0\0\0")


def _clone(number: int, flags: int) -> None:
    if call(number, flags, 0, 0, 0, 0) == 0:
        os._exit(0)


def _clone3(number: int, flags: int) -> None:
    if call(number, struct.pack("8Q", flags, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64) == 0:
        os._exit(0)


def _i386() -> None:
    """Make a call through the entry for 32-bit programs, where 20 is getpid; here, 20 is writev."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    code = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    result = code()
    if result < 0:
        raise OSError(-result, "")


def attempt(action: "Callable[[], object]") -> str:
    """Run an action in a process of its own, and return its outcome."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            action()
            answer = "ok"
        except OSError as error:
            answer = errno.errorcode.get(error.errno or 0, str(error.errno))
        finally:
            os.write(write, answer.encode())
            os._exit(0)
    os.close(write)
    answer = os.read(read, 100).decode() if select.select([read], [], [], 60)[0] else "hangs"
    os.close(read)
    if answer == "hangs":
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and not answer:
        return signal.Signals(os.WTERMSIG(status)).name
    return answer


def got_through(found: "dict[str, str]") -> "list[str]":
    """Return the attempts that succeeded although they should fail, from the output of `main`."""
    return [name for name, said in found.items() if said == "ok" and name not in HARMLESS]


def main() -> None:
    """Try everything, and print the outcomes."""
    if "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text():
        sys.exit("probe.py runs in a box only: some attempts would change this machine")
    known = json.loads(sys.argv[1])
    found = {}
    for label, name, arguments in plain(known):
        if label.startswith("x32"):
            found[label] = attempt(partial(call, known[name] | 1 << 30))
        elif name in known:
            found[label] = attempt(partial(call, known[name], *arguments))
    for label, action in others(known):
        found[label] = attempt(action)
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
