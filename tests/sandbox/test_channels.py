"""Two boxes that try to speak to each other, at the same time or one after the other. `between.py` has the table."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from referee.sandbox.box import Sandbox
from tests.sandbox import channels
from tests.sandbox.between import CHANNELS, Closed, Open, boxes, exchange, read_bits, table, two
from tests.sandbox.conftest import needs_bubblewrap

pytestmark = needs_bubblewrap
BITS = (0, 1, 1, 0, 1, 0, 0, 1)


@pytest.mark.parametrize("name", [name for name, one in CHANNELS.items() if isinstance(one, Closed)])
def test_a_box_learns_nothing_by_a_closed_channel(name: str, sandbox: Sandbox) -> None:
    with two(sandbox, name) as ends:
        seen, *_ = exchange(ends, BITS)
    one = CHANNELS[name]
    assert isinstance(one, Closed)
    assert len(set(seen)) == 1, seen
    assert one.sees in ("", seen[0])


@pytest.mark.parametrize("name", [name for name, one in CHANNELS.items() if isinstance(one, Open) and one.is_exact])
def test_a_channel_that_is_called_open_is_open(name: str, sandbox: Sandbox) -> None:
    """Else the docs would name a loss that is none; those that the rest of the machine disturbs are measured only."""
    bits = [random.getrandbits(1) for _ in range(14)] + [0, 1]
    with two(sandbox, name) as ends:
        seen, *_ = exchange(ends, bits)
    assert read_bits(seen) == bits


def test_what_one_match_has_read_leaves_the_page_cache_with_it(sandbox: Sandbox) -> None:
    if "memory" not in sandbox.groups.found:
        pytest.skip("no control group for memory can be made here: run as root, or see dogana doctor")
    with boxes(sandbox) as start:
        with start("page cache") as first:
            for bit in BITS:
                first.do(f"set {bit}")
        with start("page cache") as second:
            assert [second.do("look")[0] for _ in BITS] == [0] * len(BITS)


def test_runtimes_stay_in_memory_where_nothing_is_to_be_learnt(sandbox: Sandbox) -> None:
    with boxes(replace(sandbox, forgets=False)) as start:
        with start("page cache") as first:
            for bit in BITS:
                first.do(f"set {bit}")
        with start("page cache") as second:
            assert [second.do("look")[0] for _ in BITS] == list(BITS)


def test_the_docs_name_every_channel_and_its_rate() -> None:
    text = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    for line in table():
        assert line in text.splitlines(), "write this table into docs/security.md:\n" + "\n".join(table())
    assert set(CHANNELS) == set(channels.CHANNELS)
    assert all("bits a second" in one.rate for one in CHANNELS.values() if isinstance(one, Open))
