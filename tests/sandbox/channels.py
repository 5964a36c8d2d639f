"""One end of a channel between two boxes: `python -I -S channels.py CHANNEL SHARED`.

It runs in a box, and needs nothing but the standard library. SHARED is a folder that all boxes see, with a small program in `file` and
many pages in `large`. Files in its folder, named 0, 1, 2 ..., say what to do: `set 0` or `set 1`
is to show this bit to the other box, `look` is to find out which it shows. Each answer is a line of JSON: what was seen, and the seconds
that it took. What is seen of a channel that is closed does not depend on the bit.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

FILE, LARGE = f"{sys.argv[-1]}/file", f"{sys.argv[-1]}/large"
_LIBC = ctypes.CDLL(None, use_errno=True)
_X86 = platform.machine() == "x86_64"
_CALLS = {
    "futex": 202 if _X86 else 98, "set_tid_address": 218 if _X86 else 96, "inotify_init1": 294 if _X86 else 26,
    "fanotify_init": 300 if _X86 else 262, "mincore": 27 if _X86 else 232, "cachestat": 451, "preadv2": 327 if _X86 else 286,
    "shmget": 29 if _X86 else 194, "semget": 64 if _X86 else 190, "msgget": 68 if _X86 else 186, "mq_open": 240 if _X86 else 180,
    "add_key": 248 if _X86 else 217, "request_key": 249 if _X86 else 218,
}  # fmt: skip
_WAIT, _WAKE = 0, 1
_SECONDS = 600
"""How long a thread waits at the most."""
_PAGES = 64
"""How far apart the pages are by which a box shows what it has read: no page is read together with another one."""
_open_files: "list[object]" = []
_busy: "list[int]" = []
"""The process that keeps a processor or a file busy."""
_turn = 0


def call(name: str, *arguments: "int | bytes | ctypes.Array[ctypes.c_char] | None") -> str:
    """Make a system call, and return `ok` or the name of the errno."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return "ok" if _LIBC.syscall(ctypes.c_long(_CALLS[name]), *words) != -1 else errno.errorcode[ctypes.get_errno()]


def tried(*attempts: "Callable[[], object]") -> str:
    """Return what came of each attempt: `ok`, or the name of the errno."""
    said = []
    for attempt in attempts:
        try:
            attempt()
        except OSError as error:
            said.append(errno.errorcode.get(error.errno or 0, type(error).__name__))
        else:
            said.append("ok")
    return " ".join(said)


def nothing(bit: int) -> None:
    """Show nothing."""


# --- closed ---------------------------------------------------------------------------------------------------


def lock(bit: int) -> None:
    """Lock a file in three ways, or unlock it."""
    kind = fcntl.LOCK_EX if bit else fcntl.LOCK_UN
    file = open(FILE)  # noqa: SIM115 it stays open as long as the lock
    _open_files.append(file)
    tried(lambda: fcntl.flock(file, kind | fcntl.LOCK_NB), lambda: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB))


def see_lock() -> str:
    """Lock it, too, or ask who has."""
    request = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
    with open(FILE) as file:
        return tried(
            lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
            lambda: fcntl.fcntl(file, fcntl.F_GETLK, request),
            lambda: fcntl.fcntl(file, 36, request),  # F_OFD_GETLK
        )


def lease(bit: int) -> None:
    """Take a lease on a file, or open it, which breaks one."""
    file = open(FILE)  # noqa: SIM115
    _open_files.append(file)
    tried(lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK if bit else fcntl.F_UNLCK))


def see_lease() -> str:
    """Ask for the lease, and to be notified of what happens to files and folders."""
    folder = os.open("/usr/bin", os.O_RDONLY)
    with open(FILE) as file:
        said = tried(
            lambda: fcntl.fcntl(file, fcntl.F_GETLEASE),
            lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
            lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS),
        )
    os.close(folder)
    return f"{said} {call('inotify_init1', 0)} {call('fanotify_init', 0x200, 0)}"


def read_and_touch(bit: int) -> None:
    """Read files, run one, and set their times."""
    if bit:
        Path(FILE).read_bytes()
        os.listdir(sys.argv[-1])
        os.spawnv(os.P_WAIT, FILE, [FILE, "0"])
        tried(lambda: os.utime(FILE), lambda: os.utime(sys.argv[-1]), lambda: os.utime("/run/dogana.sock"))


def see_times() -> str:
    """Look at the times of these files."""
    return f"{_times(FILE)} {_times(sys.argv[-1])}"


def _times(place: str) -> str:
    try:
        found = os.stat(place)
    except OSError:
        return "none"
    return (
        f"{found.st_atime_ns} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_mode} {found.st_nlink} {found.st_size}"
    )


def run_a_program(bit: int) -> None:
    """Run a program from now on, or no longer."""
    while _busy:
        os.kill(_busy[0], 9)
        os.waitpid(_busy.pop(), 0)
    if bit:
        _busy.append(os.spawnv(os.P_NOWAIT, FILE, [FILE, str(_SECONDS)]))
        while os.readlink(f"/proc/{_busy[0]}/exe") != FILE:
            time.sleep(0)


def see_program() -> str:
    """Open it to be written, which is refused in another way while it runs."""
    return tried(lambda: os.close(os.open(FILE, os.O_WRONLY)), lambda: os.truncate(FILE, 0))


_DEVICES = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]


def touch_devices(bit: int) -> None:
    """Set the times of the devices that all boxes have, also by its input; read, write and cut them off."""
    if not bit:
        return
    for place in _DEVICES:
        tried(lambda place=place: os.utime(place), lambda place=place: os.utime(place, (1, 1)))  # type: ignore[misc]
        tried(lambda place=place: os.truncate(place, 0), lambda place=place: os.chmod(place, 0o600))  # type: ignore[misc]
        for flags in (os.O_RDONLY, os.O_WRONLY | os.O_TRUNC):
            with contextlib.suppress(OSError):
                descriptor = os.open(place, flags)
                tried(lambda: os.utime(descriptor))  # noqa: B023
                tried(lambda: os.read(descriptor, 1) if flags == os.O_RDONLY else os.write(descriptor, b"x"))  # noqa: B023
                os.close(descriptor)
    tried(lambda: os.utime(0), lambda: os.utime("/proc/self/fd/0"), lambda: os.utime("/dev/stdin"))


def see_devices() -> str:
    """Look at their times."""
    return " ".join(_times(place) for place in (*_DEVICES, "/dev/stdin"))


def see_residency() -> str:
    """Ask which pages of a file are in memory, without reading them."""
    room = ctypes.create_string_buffer(4096)
    span = struct.pack("QQ", ctypes.addressof(room), 1)
    with open(LARGE, "rb") as file:
        number = file.fileno()
        return " ".join(
            (
                call("mincore", _mapped(LARGE), mmap.PAGESIZE, room),
                call("cachestat", number, struct.pack("QQ", 0, 4096), room, 0),
                call("preadv2", number, span, 1, 0, 0, 8),  # RWF_NOWAIT
            )
        )


def name_something(bit: int) -> None:
    """Leave a name that another box could see: a file, a socket, a shared object, a key."""
    if not bit:
        return
    for folder in ("/tmp", "/dev/shm", "/run", "/var/tmp", "/bot", "/dev/mqueue"):
        with contextlib.suppress(OSError):
            Path(f"{folder}/channel").write_text("x")
    with contextlib.suppress(OSError):  # it has one already
        one = socket.socket(socket.AF_UNIX)
        _open_files.append(one)
        one.bind("\0channel")
        one.listen()
    call("shmget", 0x646F, 4096, 0o1666), call("semget", 0x646F, 1, 0o1666), call("msgget", 0x646F, 0o1666)
    call("mq_open", b"channel", os.O_CREAT | os.O_RDWR, 0o600, None)
    call("add_key", b"user", b"channel", b"x", 1, -3)


def see_names() -> str:
    """Look for such a name."""
    folders = ("/tmp", "/dev/shm", "/run", "/var/tmp", "/bot", "/dev/mqueue")
    with socket.socket(socket.AF_UNIX) as one:
        said = tried(
            *(lambda folder=folder: os.stat(f"{folder}/channel") for folder in folders),
            lambda: one.connect("\0channel"),
        )
    objects = [call("shmget", 0x646F, 0, 0), call("semget", 0x646F, 0, 0), call("msgget", 0x646F, 0)]
    objects += [call("mq_open", b"channel", os.O_RDONLY, 0, None), call("request_key", b"user", b"channel", None, -3)]
    return " ".join([said, *objects])


def fork_many(bit: int) -> None:
    """Start processes, whose numbers nobody else gets then."""
    for _ in range(20 if bit else 0):
        if (child := os.fork()) == 0:
            os._exit(0)
        os.waitpid(child, 0)


def see_numbers() -> str:
    """Look how far apart the numbers of two processes are, and what was the last one."""
    children = []
    for _ in range(2):
        if (child := os.fork()) == 0:
            os._exit(0)
        os.waitpid(child, 0)
        children.append(child)
    last = int(Path("/proc/sys/kernel/ns_last_pid").read_text())
    return (
        f"{children[1] - children[0]} {last - children[1]} {Path('/proc/loadavg').read_text().split()[4] == str(last)}"
    )


def fill_queues(bit: int) -> None:
    """Fill the queues of sockets and pipes, or make no new ones."""
    if bit:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                pair[0].send(b"x" * 4096)
        _open_files.append(pair)


def see_queues() -> str:
    """Look how long queues are: of the socket of its seat, of its own, and of all that can be seen."""
    with socket.socket(socket.AF_UNIX) as one:
        reached = tried(lambda: one.connect("/run/dogana.sock"))
        counts = tried(lambda: fcntl.ioctl(one, 0x5411, b"\0" * 4), lambda: fcntl.ioctl(one, 0x894B, b"\0" * 4))
        queues = len(Path("/proc/net/unix").read_text().splitlines()), Path("/proc/net/sockstat").read_text().split()[2]
        return f"{reached} {counts} {queues}"


# --- open -----------------------------------------------------------------------------------------------------


_places: "dict[str, int]" = {}


def _mapped(path: str) -> int:
    """Return where a file is mapped, once for all, to be read only."""
    if path not in _places:
        _LIBC.mmap.restype = ctypes.c_void_p
        _LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        with open(path, "rb") as file:
            # Private: the pages of a file are the file's until they are written to, whatever the mapping is called.
            size = os.stat(path).st_size
            _places[path] = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_PRIVATE, file.fileno(), 0)
    return _places[path]


def _word() -> int:
    return _mapped(FILE) + 64


def _wait_there() -> None:
    value = ctypes.c_uint32.from_address(_word()).value
    _LIBC.syscall(_CALLS["futex"], ctypes.c_void_p(_word()), _WAIT, value, struct.pack("qq", _SECONDS, 0), None, 0)


def _is_waiting(thread: int) -> bool:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/self/task/{thread}/syscall").read_text().split()
        return len(words) > 1 and words[0] == str(_CALLS["futex"]) and int(words[1], 16) == _word()
    return False


def wait_at_a_word(bit: int) -> None:
    """Let a thread wait at a word of a file, until it is woken."""
    if bit:
        _word()
        thread = threading.Thread(target=_wait_there, daemon=True)
        thread.start()
        while not _is_waiting(thread.native_id or 0):
            time.sleep(0)


def wake() -> int:
    """Wake whoever waits at that word: the kernel tells how many there were."""
    return int(_LIBC.syscall(_CALLS["futex"], ctypes.c_void_p(_word()), _WAKE, 1 << 30, None, None, 0))


def end_a_thread(bit: int) -> None:
    """Let a thread end whose end is told at that word."""

    def end() -> None:
        _LIBC.syscall(_CALLS["set_tid_address"], ctypes.c_void_p(_word()))

    if bit:
        thread = threading.Thread(target=end)
        thread.start()
        number = thread.native_id
        thread.join()
        while os.path.exists(f"/proc/self/task/{number}"):
            time.sleep(0)


_watching: "list[threading.Thread]" = []


def see_end() -> int:
    """Look whether a thread that waits there still does; if not, let another one wait."""
    if _watching and _is_waiting(_watching[0].native_id or 0):
        return 0
    _watching[:] = [threading.Thread(target=_wait_there, daemon=True)]
    _watching[0].start()
    while not _is_waiting(_watching[0].native_id or 0):
        time.sleep(0)
    return 1


def _page() -> int:
    """Return another page each time: each can be used once."""
    global _turn
    _turn += 1
    pages = os.stat(LARGE).st_size // mmap.PAGESIZE
    return _mapped(LARGE) + (_turn * _PAGES % pages) * mmap.PAGESIZE


def read_a_page(bit: int) -> None:
    """Read a page that nobody has read."""
    page = _page()
    _LIBC.madvise(ctypes.c_void_p(page), mmap.PAGESIZE, mmap.MADV_RANDOM)
    if bit:
        ctypes.c_uint8.from_address(page).value  # noqa: B018


def see_page() -> int:
    """Read it, and look whether it had to come from the disk."""
    page = _page()
    _LIBC.madvise(ctypes.c_void_p(page), mmap.PAGESIZE, mmap.MADV_RANDOM)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    ctypes.c_uint8.from_address(page).value  # noqa: B018
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before)


def take_numbers(bit: int) -> None:
    """Make and close pipes: each has a number that counts for the whole machine."""
    for _ in range(8192 if bit else 0):
        for end in os.pipe():
            os.close(end)


def see_inodes() -> int:
    """Look how far the numbers of pipes have gone, beyond the 1,024 that each processor takes at a time."""
    global _turn
    seen = 0
    for _ in range(1100):
        ends = os.pipe()
        seen = max(seen, os.fstat(ends[0]).st_ino)
        for end in ends:
            os.close(end)
    before, _turn = _turn, seen
    return seen - before


_held: "list[threading.Event]" = []


def hold_threads(bit: int) -> None:
    """Have eight threads more, or none."""
    while _held:
        _held.pop().set()
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0)
    if bit:
        _held.append(threading.Event())
        for _ in range(8):
            threading.Thread(target=_held[0].wait, daemon=True).start()


def see_tasks() -> int:
    """Look how many threads the machine has."""
    room = ctypes.create_string_buffer(128)
    _LIBC.sysinfo(room)
    return int(struct.unpack_from("H", room, 80)[0])


def load_a_processor(bit: int) -> None:
    """Keep a processor busy from now on, or no longer."""
    while _busy:
        os.kill(_busy[0], 9)
        os.waitpid(_busy.pop(), 0)
    if bit:
        if (child := os.fork()) == 0:
            while True:
                pass
        _busy.append(child)


def see_load() -> int:
    """Look how long the processors have been idle in 100 ms."""

    def idle() -> int:
        return int(Path("/proc/stat").read_text().split()[4])

    before = idle()
    time.sleep(0.1)
    return before - idle()


CHANNELS: "Mapping[str, tuple[Callable[[int], None], Callable[[], str | int]]]" = {
    "locks on files": (lock, see_lock),
    "leases and notices": (lease, see_lease),
    "programs that run": (run_a_program, see_program),
    "times of files": (read_and_touch, see_times),
    "times of devices": (touch_devices, see_devices),
    "what is in memory": (nothing, see_residency),
    "names": (name_something, see_names),
    "numbers of processes": (fork_many, see_numbers),
    "queues": (fill_queues, see_queues),
    "futexes": (wait_at_a_word, wake),
    "ends of threads": (end_a_thread, see_end),
    "page cache": (read_a_page, see_page),
    "numbers of inodes": (take_numbers, see_inodes),
    "count of threads": (hold_threads, see_tasks),
    "load": (load_a_processor, see_load),
}


def main() -> None:
    """Do what the files of the folder say, one after another."""
    if Path(__file__).resolve().parent != Path("/bot"):
        sys.exit("this runs in a box")
    show, look = CHANNELS[sys.argv[1]]
    number = 0
    while True:
        order = Path(f"/bot/{number}")
        while not order.exists():
            select.select([], [], [], 0.001)
        words = order.read_text().split()
        if words[0] == "end":
            os._exit(0)
        began = time.perf_counter()
        seen = look() if words[0] == "look" else show(int(words[1]))
        print(json.dumps([seen, time.perf_counter() - began]), flush=True)
        number += 1


if __name__ == "__main__":
    main()
