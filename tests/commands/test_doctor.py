"""`dogana doctor` answers as a person would: the verdict in one sentence, then why, what it means, and what to type."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.sandbox import box, measures
from referee.sandbox.cgroup import Groups, Hierarchy, Usage
from referee.sandbox.measures import Ran
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana

__all__ = ["dogana"]

SEEN = {
    "user": 1900000001,
    "can_change_kernel": False,
    "capabilities": 0,
    "no_new_privileges": True,
    "writable": [],
    "descriptors": [0, 1, 2],
    "tmp_bytes": 32 << 20,
    "shm_bytes": 1 << 20,
    "processes": [1, 2],
    "environment_of_first": 0,
    "networks": ["lo"],
    "has_filter": True,
}
ALL = {name: Hierarchy(Path("/sys/fs/cgroup"), 2) for name in ("memory", "pids", "cpu", "freezer")}
Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Lets the command find a machine as described: what a program in a box saw or printed, and which groups there are."""

    def describe(seen: dict[str, object] | str, groups: dict[str, Hierarchy], user: int = 1000) -> None:
        output = seen if isinstance(seen, str) else json.dumps(SEEN | seen)
        monkeypatch.setattr(measures, "run", lambda *_: Ran(0, output, True, Usage()))
        monkeypatch.setattr(measures, "find_bubblewrap", lambda: "/usr/bin/bwrap")
        monkeypatch.setattr(Groups, "look", staticmethod(lambda: Groups(groups)))
        monkeypatch.setattr(Groups, "sweep", lambda _: None)
        monkeypatch.setattr(os, "geteuid", lambda: user)

    return describe


def paragraphs(text: str) -> list[str]:
    return text.strip().split("\n\n")


def test_a_machine_with_all_measures_gets_one_sentence(dogana: Dogana, machine: Machine) -> None:
    machine({}, ALL)
    verdict, found = paragraphs(dogana("doctor").stdout)
    assert verdict == "This machine can run strangers' bots."
    assert found.count("\n  yes ") == len(found.splitlines()) - 1 == 12
    assert json.loads(dogana("doctor", "--json").stdout)["enough"] is True


def test_without_bubblewrap_it_says_what_to_install(
    dogana: Dogana, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine({}, ALL)
    monkeypatch.setattr(measures, "find_bubblewrap", box.find_bubblewrap)
    monkeypatch.setattr("referee.sandbox.box.shutil.which", lambda *_, **__: None)
    verdict, fix, until, found = paragraphs(dogana("doctor", status=1).stdout)
    assert verdict == "This machine cannot run strangers' bots, because bubblewrap is not installed."
    assert fix.splitlines()[-1] == "  apt-get install bubblewrap"
    assert fix.startswith("Without bubblewrap: there is no sandbox at all")
    assert found.startswith("What was found:\n")
    assert "--unconfined" in until
    assert "NO       bubblewrap  is not installed" in found
    report = json.loads(dogana("doctor", "--json", status=1).stdout)
    assert (report["enough"], report["verdict"]) == (False, verdict)
    assert report["measures"][0]["commands"] == ["apt-get install bubblewrap"]


def test_a_user_without_control_groups_may_run_bots_with_weaker_limits(dogana: Dogana, machine: Machine) -> None:
    machine({}, {})
    verdict, fix, found = paragraphs(dogana("doctor").stdout)
    assert verdict == (
        "This machine can run strangers' bots, with weaker limits than it could have: memory, tasks, processor and stopping."
    )
    assert [line.split(":")[0] for line in fix.splitlines()[:4]] == [
        "Without memory", "Without tasks", "Without processor", "Without stopping"
    ]  # fmt: skip
    assert fix.count("To fix it") == 1
    assert fix.splitlines()[-1] == "  systemd-run --user --scope -p Delegate=yes dogana ladder run"
    assert found.count("in part") == 4


def test_one_measure_that_is_weaker_is_named_alone(dogana: Dogana, machine: Machine) -> None:
    machine({}, {name: one for name, one in ALL.items() if name != "cpu"})
    verdict, fix, _ = paragraphs(dogana("doctor").stdout)
    assert verdict.endswith("could have: processor.")
    assert fix.startswith("Without processor: a bot with many threads slows the others' matches down.")


def test_root_in_a_container_without_control_groups_is_not_told_to_become_root(
    dogana: Dogana, machine: Machine
) -> None:
    machine({}, {}, user=0)
    _, fix, _ = paragraphs(dogana("doctor").stdout)
    assert "/sys/fs/cgroup must be writable" in fix
    assert "run as root" not in fix


def test_root_in_a_container_with_too_few_users_is_told_how_many_it_needs(
    dogana: Dogana, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine({}, ALL, user=0)

    def order(*_: object) -> Ran:
        box.users_for_agents("0 1000 1\n")
        raise AssertionError

    monkeypatch.setattr(measures, "run", order)
    verdict, fix, *_ = paragraphs(dogana("doctor", status=1).stdout)
    assert verdict == (
        "This machine cannot run strangers' bots, because root can be too few other users in this container."
    )
    assert "To fix it: map 65536 of them into it, or do not run as root." in fix


def test_a_box_that_could_not_be_built_is_reported_with_what_to_do(dogana: Dogana, machine: Machine) -> None:
    said = "bwrap: Creating new namespace failed: Operation not permitted"
    machine(f"{said}\n", ALL, user=0)
    verdict, fix, *_ = paragraphs(dogana("doctor", status=1).stdout)
    assert verdict.endswith(f"because no box could be built: {said}.")
    advice, commands = measures.why_no_box(said)
    assert f"To fix it: {advice}" in fix
    assert all(command in fix for command in commands)


@pytest.mark.parametrize(
    ("said", "switch", "value", "advice", "command"),
    [
        ("setting up uid map: Permission denied", "kernel/apparmor_restrict_unprivileged_userns", "1",
         "AppArmor forbids user namespaces", "systemctl reload apparmor"),
        ("setting up uid map: Permission denied", "kernel/unprivileged_userns_clone", "0",
         "user namespaces are forbidden", "sysctl kernel.unprivileged_userns_clone=1"),
        ("setting up uid map: Permission denied", "user/max_user_namespaces", "0",
         "user namespaces are forbidden", "sysctl user.max_user_namespaces=10000"),
        ("Creating new namespace failed: Operation not permitted", "user/max_user_namespaces", "1",
         "in a container", "docker run --security-opt seccomp=unconfined"),
        ("Unknown option --disable-userns", "user/max_user_namespaces", "1", "this bubblewrap is too old: 0.8.0 or newer", ""),
    ],
)  # fmt: skip
def test_what_forbids_the_box_is_named_with_what_to_type(
    tmp_path: Path, said: str, switch: str, value: str, advice: str, command: str
) -> None:
    (tmp_path / switch).parent.mkdir(parents=True)
    (tmp_path / switch).write_text(f"{value}\n")
    reason, commands = measures.why_no_box(f"bwrap: {said}", tmp_path)
    assert reason.startswith(advice)
    assert "".join(commands[-1:]).startswith(command)


def test_without_seccomp_in_the_kernel_the_consequence_is_printed(dogana: Dogana, machine: Machine) -> None:
    machine({"has_filter": False}, ALL)
    verdict, fix, _, found = paragraphs(dogana("doctor", status=1).stdout)
    assert "cannot run strangers' bots" in verdict
    assert fix.startswith("Without system calls: a bot could make system calls that no runtime needs")
    assert "CONFIG_SECCOMP_FILTER" in fix
    assert "NO       system calls  all can be made" in found
