"""The forecast for many machines: what is measured goes in, the narrowest limit comes out."""

from __future__ import annotations

import pytest

from bench.machines import NETWORK_BYTES, Costs, limits, store
from bench.running import steady_rate

COSTS = Costs(node=0.5, verify=0.03, write=0.01, counting=0.01, sent=100_000)


@pytest.mark.parametrize(
    ("nodes", "verifiers", "what", "rate"),
    [
        (1, 0, "machines that play", 4),
        (10, 0, "the one process that counts", 20),  # it verifies, too: 50 ms a match
        (10, 4, "machines that play", 40),
        (100, 1, "processes that verify", 100 / 3),
        (100, 4, "the one process that counts", 50),
    ],
)
def test_the_narrowest_limit_comes_first(nodes: int, verifiers: int, what: str, rate: float) -> None:
    found = limits(COSTS, nodes, 2, verifiers)
    assert found[0].what == what
    assert found[0].rate == pytest.approx(rate)
    assert [limit.rate for limit in found] == sorted(limit.rate for limit in found)


def test_a_network_can_be_the_limit() -> None:
    first, *_ = limits(COSTS._replace(sent=NETWORK_BYTES), 1_000, 2)
    assert (first.what, first.rate) == ("the network of the ladder", 1.0)


def test_the_rate_of_a_run_leaves_out_its_start_and_its_end() -> None:
    start = [(0.0, 0), (60.0, 1), (60.1, 2)]  # two workers have played a match each
    steady = [(60.1 + 0.5 * number, 2 + number) for number in range(1, 9)]
    end = [(90.0, 12)]
    assert steady_rate([*start, *steady, *end], 2) == pytest.approx(2.0)


@pytest.mark.long
def test_what_a_match_costs_the_ladder_is_measured_through_a_real_run() -> None:
    """Every block is over, so its records were found where they were written, and sealed: `store` fails otherwise."""
    stored = store(4)
    assert min(stored) > 0
    assert stored.sent < 1_000_000
