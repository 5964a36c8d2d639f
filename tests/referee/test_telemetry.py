"""What bots say of their thinking: which lines count, however they come, and that nobody can fill memory by it."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.live.seats.telemetry import MAX_KEYS, MAX_LINE_BYTES, KeyValues, Telemetry

OUTPUT = b"hello\ndogana: nodes=100 depth=3\nnonsense\ndogana: nodes=300\n\xff\xfe\ndogana: depth=5\n"


def series(*pieces: bytes) -> dict[str, KeyValues]:
    telemetry = Telemetry()
    for piece in pieces:
        telemetry.add(piece)
    return dict(telemetry.series())


def test_values_are_summed_by_key() -> None:
    found = series(OUTPUT)
    assert found == {"nodes": KeyValues(2, 400.0), "depth": KeyValues(2, 8.0)}
    assert found["nodes"].mean == 200


@given(st.lists(st.integers(0, len(OUTPUT)), max_size=8))
def test_it_does_not_matter_in_which_pieces_output_comes(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(OUTPUT)]
    assert series(*(OUTPUT[a:b] for a, b in pairwise(edges))) == series(OUTPUT)


@pytest.mark.parametrize(
    "line",
    [
        b"dogana: nodes",
        b"dogana: nodes=",
        b"dogana: nodes=many",
        b"dogana: nodes=nan",
        b"dogana: nodes=1e999",
        b"dogana: nodes=1 and more",
        b"dogana: Nodes=1",
        b"dogana: 1=1",
        b"dogana:nodes=1",
        b" dogana: nodes=1",
        b"dogana: nodes=1\x00",
        b"dogana: nodes=" + b"1" * 40,
        b"dogana: " + b"k" * 33 + b"=1",
        b"dogana: nodes=1 " + b" " * MAX_LINE_BYTES,
    ],
)
def test_what_is_no_telemetry_is_passed_over(line: bytes) -> None:
    assert series(line + b"\ndogana: good=1\n") == {"good": KeyValues(1, 1.0)}


def test_a_line_that_never_ends_takes_no_memory() -> None:
    telemetry, output = Telemetry(), b"x" * 65536
    tracemalloc.start()
    for _ in range(1000):
        telemetry.add(output)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 65536
    telemetry.add(b"\ndogana: good=1\n")
    assert telemetry.series() == {"good": KeyValues(1, 1.0)}


def test_only_so_many_keys_are_kept_and_those_go_on() -> None:
    found = series(*(f"dogana: k{number}=1\n".encode() for number in [*range(MAX_KEYS + 10), 0]))
    assert len(found) == MAX_KEYS
    assert found["k0"] == KeyValues(2, 2.0)


def test_a_sum_that_would_be_infinite_stays_as_it_was() -> None:
    assert series(b"dogana: big=1e308\n", b"dogana: big=1e308\n") == {"big": KeyValues(1, 1e308)}


@given(st.binary(max_size=300))
def test_any_bytes_may_come(data: bytes) -> None:
    series(data, data)
