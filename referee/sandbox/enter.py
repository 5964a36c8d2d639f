"""The last steps of a child process before it becomes bubblewrap: control groups, limits, and an identity of its own.

The supervisor of an agent (`referee/sandbox/supervise.py`) calls `enter` after a fork. This module needs nothing but
the standard library. See clone(2), mount_namespaces(7), credentials(7).
"""

import _signal as signal  # type: ignore[import-not-found]  # as in supervise.py
import ctypes
import os
import resource
import stat

_CLONE_NEWNS = 0x20000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1
_COVERED = "/tmp"  # noqa: S108 not used as such: what is bound there can be reached by every user, in this mount namespace alone


def enter(
    *,
    supervisor: int,
    bubblewrap: str,
    arguments: "list[str]",
    command: "list[str]",
    sources: "list[str]",
    files: "dict[str, bytes]",
    status: int,
    groups: "list[str]",
    uids: "tuple[int, int] | None",
    rlimits: "dict[str, int]",
) -> None:
    """Become bubblewrap, which becomes the agent.

    Args:
        supervisor: the parent process; this process ends with it.
        bubblewrap: the path of bubblewrap.
        arguments: bubblewrap's arguments. `=` marks a literal argument; `$` marks the name of a source (`SOURCE0`), of
            a file, or `STATUS`.
        command: the command that bubblewrap runs.
        sources: the files and folders of this machine that the agent may see.
        files: other files for bubblewrap, by name.
        status: the descriptor for bubblewrap's reports.
        groups: the files that put a process into control groups.
        uids: the first user id for agents and the number of ids; None to keep the current user.
        rlimits: the limits of each process, by their names in the module `resource`.

    Raises:
        OSError: if a step fails; no part of the agent has run then.
    """
    for door in groups:
        _write(door, str(os.getpid()))
    if uids:
        sources = _bind_for_everybody(sources)
        uid = uids[0] + os.getpid() % uids[1]
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a change of identity has cleared it
        if os.getppid() != supervisor:
            os._exit(1)
    for name, value in rlimits.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (least, least))
    descriptors = {name: _in_memory(content) for name, content in files.items()} | {"STATUS": status}
    names = {f"SOURCE{number}": source for number, source in enumerate(sources)}
    names |= {name: str(descriptor) for name, descriptor in descriptors.items()}
    words = [names[word[1:]] if word.startswith("$") else word[1:] for word in arguments]
    listed = _in_memory(b"".join(os.fsencode(word) + b"\0" for word in words))
    for descriptor in [*descriptors.values(), listed]:
        os.set_inheritable(descriptor, True)
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 pathlib would double the start-up
        if descriptor > 2 and descriptor not in descriptors.values() and descriptor != listed:
            try:
                os.close(descriptor)
            except OSError:  # the descriptor for reading the folder is closed already
                continue
    os.execve(bubblewrap, ["bwrap", "--args", str(listed), "--", *command], {})  # noqa: S606 no shell: that is the point


def _bind_for_everybody(sources: "list[str]") -> "list[str]":
    """Bind the sources where the agent's user can reach them, whatever their parents' modes; return the new paths.

    This happens in a private mount namespace. Only root can do it, and only root needs to.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def call(result: int, what: str) -> None:
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), what)

    call(libc.unshare(_CLONE_NEWNS), "unshare")
    call(libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None), "/")
    # All are opened before anything is covered, as a source may lie below the folder in which the others are bound.
    opened = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source in sources]
    call(libc.mount(b"tmpfs", _COVERED.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=0711,size=1m"), _COVERED)
    places = []
    for number, (source, descriptor) in enumerate(zip(sources, opened, strict=True)):
        place = f"{_COVERED}/{number}"
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.mkdir(place, 0o711)  # noqa: PTH102
        else:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        call(libc.mount(f"/proc/self/fd/{descriptor}".encode(), place.encode(), None, _MS_BIND | _MS_REC, None), source)
        os.close(descriptor)
        places.append(place)
    return places


def _in_memory(data: bytes) -> int:
    """Return a descriptor of an anonymous file with this content."""
    descriptor = os.memfd_create("dogana")
    while data:
        data = data[os.write(descriptor, data) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
