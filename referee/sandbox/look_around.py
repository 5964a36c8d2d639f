"""Report what an agent can see of the machine and where it can write, with `python -I -S look_around.py`.

It prints one JSON object. It runs in the box, and needs nothing but the standard library.
"""

import json
import os
import sys

_SWITCH = "/proc/sys/kernel/core_pattern"
"""The file that names the program that the host runs as root after a crash; whoever can write to it can escape."""
_PLACES = ("/", "/bot", "/usr", "/usr/bin", "/etc", "/run", "/dev", "/proc", "/home", "/var/tmp", "/sys")  # noqa: S108


def _write_same(path: str) -> bool:
    """Return whether a file can be written to, by writing its own content back to it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 fewer imports
            content = file.read()
        with open(path, "wb", buffering=0) as file:  # noqa: PTH123
            file.write(content)
    except OSError:
        return False
    return True


def _create_in(folder: str) -> bool:
    """Return whether a file can be created in a folder."""
    path = f"{folder}/dogana-look-around"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    os.unlink(path)  # noqa: PTH108
    return True


def _user() -> int:
    """Return the agent's user id as the kernel sees it outside its user namespaces, which is the owner of its /tmp."""
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
    """Return the size in bytes of the environment that the first process of the box reveals."""
    try:
        with open("/proc/1/environ", "rb") as file:  # noqa: PTH123
            return len(file.read())
    except OSError:
        return 0


def main() -> None:
    """Print the report."""
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
        "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],  # noqa: PTH208 the last one lists the folder
    }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
