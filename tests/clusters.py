"""A Ray cluster on this machine: nodes that are started and killed as if each were a machine of its own."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WITHOUT_RAY = "needs Ray: pip install 'dogana-arena[ray]'"
MEMORY = 100 * 1024 * 1024

# As docs/many_machines.md advises. Ray reads these when it is first imported.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


class Machines:
    """Nodes of a cluster; its head plays nothing."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.nodes: list[Any] = []

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def add(self, processors: int = 1, **environment: str) -> Any:
        node = self.cluster.add_node(
            num_cpus=processors, object_store_memory=MEMORY, env_vars={**os.environ, **environment}
        )
        self.nodes.append(node)
        return node

    def kill(self, chance: random.Random) -> None:
        """Kill a node, as if somebody had drawn its plug."""
        node = self.nodes.pop(chance.randrange(len(self.nodes)))
        self.cluster.remove_node(node, allow_graceful=False)


@contextmanager
def machines(count: int) -> Iterator[Machines]:
    """Start a cluster of so many machines with a processor each; nothing of it is left afterwards."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason=WITHOUT_RAY)
    cluster = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY},
    )
    found = Machines(cluster)
    try:
        for _ in range(count):
            found.add()
        yield found
    finally:
        cluster.shutdown()
