"""Control groups: which can be used, what they are told, what they tell, and that dead ones are swept."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from referee.sandbox.cgroup import ControlGroup, Groups, Hierarchy, Usage
from referee.sandbox.limits import MIB, ResourceLimits

LIMITS = ResourceLimits(memory_bytes=256 * MIB, tasks=10, cpus=1.5)


def machine(folder: Path, mounts: str, own: str) -> Path:
    """Make the beginning of a file system in which /proc says this."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/self/mounts").write_text(mounts)
    (folder / "proc/self/cgroup").write_text(own)
    return folder


def group_folder(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"cgroup.procs": "", **files}.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def group_of_the_second_version(parent: Path) -> ControlGroup:
    folder = parent / "dogana-1-1"
    return ControlGroup({name: Hierarchy(folder, 2) for name in ("memory", "pids", "cpu", "cpuacct", "freezer")})


def test_a_machine_without_control_groups_has_none(tmp_path: Path) -> None:
    assert Groups.look(machine(tmp_path, "proc /proc proc rw 0 0\n", "0::/\n")).found == {}


def test_groups_of_the_first_version_are_made_below_our_own(tmp_path: Path) -> None:
    mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\ncgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n"
    root = machine(tmp_path, mounts, "4:memory:/outer/job\n8:pids:/\n")
    job = group_folder(root / "sys/fs/cgroup/memory/outer/job")
    assert Groups.look(root, lambda folder: folder == job).found == {"memory": Hierarchy(job, 1)}


def test_groups_of_the_second_version_stand_beside_ours_where_their_limits_are_enabled(tmp_path: Path) -> None:
    mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
    root = machine(tmp_path, mounts, "0::/user.slice/session.scope\n")
    user = group_folder(root / "sys/fs/cgroup/user.slice", cgroup__subtree_control="cpu memory pids\n")
    group_folder(user / "session.scope", cgroup__subtree_control="\n")
    found = Groups.look(root, lambda folder: True).found
    assert {name: found[name].folder for name in ("memory", "pids", "cpu", "cpuacct")} == dict.fromkeys(
        ("memory", "pids", "cpu", "cpuacct"), user
    )
    assert {one.version for one in found.values()} == {2}


@pytest.mark.parametrize("delegate", [b"1", b"0"])
def test_where_our_group_was_delegated_we_move_into_a_group_below_it(tmp_path: Path, delegate: bytes) -> None:
    root = machine(tmp_path, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/run.scope\n")
    ours = group_folder(root / "sys/fs/cgroup/run.scope", cgroup__controllers="pids hugetlb", cgroup__procs="17")
    try:
        os.setxattr(ours, "user.delegate", delegate)
    except OSError as error:
        pytest.skip(f"needs a file system with extended attributes: {error}")
    Groups.look(root, lambda folder: True)
    is_ours = delegate == b"1"
    assert (ours / "dogana-self").exists() == is_ours
    assert (ours / "cgroup.subtree_control").exists() == is_ours
    if is_ours:
        assert (ours / "dogana-self/cgroup.procs").read_text() == "17"
        assert (ours / "cgroup.subtree_control").read_text() == "+pids"


def test_a_group_of_the_second_version_gets_its_limits_and_reports_what_was_used(tmp_path: Path) -> None:
    group = group_of_the_second_version(tmp_path)
    folder = tmp_path / "dogana-1-1"
    group.begin(LIMITS)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "memory.max": str(256 * MIB),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "12",
        "cpu.max": "150000 100000",
    }
    (folder / "memory.peak").write_text("1048576\n")
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n")
    (folder / "pids.peak").write_text("7\n")
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 2000000\n")
    assert group.usage() == Usage(memory_peak=1048576, memory_kills=2, tasks_peak=5, cpu_seconds=2.5)
    in_words = "1 MiB of memory, 5 tasks, 2.50 s of processor time"
    assert str(group.usage()) == f"{in_words}, processes killed for want of memory: 2"
    assert str(replace(group.usage(), memory_kills=0)) == in_words
    group.freeze(frozen=True)
    assert (folder / "cgroup.freeze").read_text() == "1"


@pytest.mark.parametrize("forgets", [True, False])
def test_a_group_of_the_second_version_gives_up_its_page_cache_at_its_end(tmp_path: Path, *, forgets: bool) -> None:
    group = group_of_the_second_version(tmp_path)
    high = group_folder(tmp_path / "dogana-1-1") / "memory.high"
    high.write_text("max")
    with pytest.raises(OSError, match="not empty"):  # as it is in the way only here: the kernel removes these files
        group.end(forgets=forgets)
    assert high.read_text() == ("0" if forgets else "max")


def test_what_a_kernel_does_not_tell_is_not_known(tmp_path: Path) -> None:
    usage = group_of_the_second_version(tmp_path).usage()
    assert usage == Usage()
    assert str(usage) == "an amount that this machine does not report"


def test_groups_of_dead_owners_are_swept_and_those_of_the_living_stay() -> None:
    groups = Groups.look()
    if not groups.found:
        pytest.skip("no control group can be made here: run as root, or see dogana doctor")
    parent = next(iter(groups.found.values())).folder
    dead, living = parent / "dogana-4194305-0", parent / f"dogana-{os.getpid()}-999999"
    dead.mkdir()
    living.mkdir()
    try:
        groups.sweep()
        assert not dead.exists()
        assert living.exists()
    finally:
        living.rmdir()
