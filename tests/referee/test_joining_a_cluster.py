"""What is said when there is no cluster to join, or no Ray. None of this needs Ray."""

from __future__ import annotations

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from referee.live.matches.cluster import ClusterError, check_address, joined
from tests.cases import mostly_long
from tests.patience import patient


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nonsense",
        ":1",
        "host:",
        "host:0",
        "host:70000",
        "host:²",
        "ray://127.0.0.1:1",
        "\x1b[31m:x",
        "host:" + "9" * 5000,
    ],
)
def test_what_is_no_address_is_refused_in_one_line(address: str) -> None:
    with pytest.raises(ClusterError, match=r"is not a cluster: say auto, local or HOST:PORT of its head") as refused:
        check_address(address)
    assert str(refused.value).isprintable()


def test_an_address_at_which_nobody_listens_is_refused_at_once() -> None:
    with pytest.raises(ClusterError, match=r"no cluster answers at 127\.0\.0\.1:1 \(Connection refused\)"):
        check_address("127.0.0.1:1")


def test_what_listens_and_is_no_cluster_is_refused_after_a_moment() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ClusterError, match=f"what answers at 127.0.0.1:{port} is not the head of a cluster"):
            check_address(f"127.0.0.1:{port}", reach_seconds=0.5)


def test_without_ray_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"--ray needs Ray: pip install 'dogana-arena\[ray\]'"), joined("local"):
        pass


def test_a_machine_that_has_joined_no_cluster_gets_the_command_for_it_and_no_option_of_ray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def init(**_: object) -> None:
        raise ConnectionError(
            "Could not find any running Ray instance. Please specify the one to connect to by setting `--address` flag"
        )

    exceptions = SimpleNamespace(RayError=RuntimeError)
    ray = SimpleNamespace(init=init, shutdown=lambda: None, exceptions=exceptions)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.exceptions", exceptions)
    with pytest.raises(ClusterError) as refused, joined("auto"):
        pass
    assert str(refused.value) == (
        "this machine has joined no cluster; join one by: ray start --address HOST:PORT, or start one by: ray start --head"
    )


@pytest.mark.parametrize(
    "module", mostly_long(["ladder.commands.run", "ladder.commands.serve", "referee.commands.play"])
)
def test_commands_import_ray_only_when_they_are_to_use_it(module: str) -> None:
    code = f"import sys, {module}; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=patient(120)).returncode == 0
