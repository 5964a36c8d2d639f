"""Tell what an agent sees of the machine and what it can write to: `python -I -S look_around.py`.

It prints one JSON object. It is made to run in the box, and needs nothing but the standard library.
"""

import json
import os
import sys

_SWITCH = "/proc/sys/kernel/core_pattern"
"""A program named here is run by the host's root whenever a process crashes: who can write to it is out of the box."""
_PLACES = ("/", "/bot", "/usr", "/usr/bin", "/etc", "/run", "/dev", "/proc", "/home", "/var/tmp", "/sys")  # noqa: S108


def _write_same(path: str) -> bool:
    """Tell whether a file can be written to; it is given the content that it has, so that nothing changes."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 fewer imports
            content = file.read()
        with open(path, "wb", buffering=0) as file:  # noqa: PTH123
            file.write(content)
    except OSError:
        return False
    return True


def _create_in(folder: str) -> bool:
    """Tell whether a file can be made in a folder."""
    path = f"{folder}/dogana-look-around"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    os.unlink(path)  # noqa: PTH108
    return True


def _user() -> int:
    """Return who the agent is for the kernel, outside of its user namespaces: the owner of its /tmp."""
    with open("/proc/self/mountinfo") as file:  # noqa: PTH123
        [options] = [line.split()[-1] for line in file if line.split()[4] == "/tmp"]  # noqa: S108
    return next((int(option[4:]) for option in options.split(",") if option.startswith("uid=")), 0)


def _fields(path: str) -> "dict[str, str]":
    with open(path) as file:  # noqa: PTH123
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def _size(folder: str) -> int:
    try:
        about = os.statvfs(folder)
    except OSError:
        return 0
    return about.f_blocks * about.f_frsize


def _environment_of_first() -> int:
    """Return how much the first process of the box shows of the environment in which it was started, in bytes."""
    try:
        with open("/proc/1/environ", "rb") as file:  # noqa: PTH123
            return len(file.read())
    except OSError:
        return 0


def main() -> None:
    """Look around."""
    status = _fields("/proc/self/status")
    seen = {
        "user": _user(),
        "can_change_kernel": _write_same(_SWITCH),
        "capabilities": int(status["CapEff"], 16) | int(status["CapBnd"], 16) | int(status["CapPrm"], 16),
        "no_new_privileges": status["NoNewPrivs"] == "1",
        "has_filter": status["Seccomp"] == "2",
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),  # noqa: PTH208
        "environment_of_first": _environment_of_first(),
        "networks": [name.strip() for name in _fields("/proc/net/dev") if "|" not in name],
        "writable": [place for place in _PLACES if _create_in(place)],
        "tmp_bytes": _size("/tmp"),  # noqa: S108
        "shm_bytes": _size("/dev/shm"),  # noqa: S108
        "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],  # noqa: PTH208 the last one reads this
    }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
