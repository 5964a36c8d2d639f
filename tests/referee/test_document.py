"""Reading what people wrote: all problems at once, each with its place, and never an exception."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.kit.document import MAX_KEY_PARTS, Document, parse_toml

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read_everything(document: Document) -> tuple[object, ...]:
    inner = document.table("g")
    return (
        document.integer("a", 1, 5),
        document.boolean("b"),
        document.text("c"),
        document.choice("d", {"x": 1, "y": 2}),
        document.choices("e", {"x": 1, "y": 2}),
        document.integers("f", 0, 9, 2),
        inner.integer("a", 0, 1),
        document.counts("h", ["x", "y"], 3),
        document.texts("i"),
        [table.integer("a", 0, 9) for table in document.tables("j")],
    )


GOOD = {
    "a": 3,
    "b": True,
    "c": "text",
    "d": "y",
    "e": ["x"],
    "f": [1, 2],
    "g": {"a": 1},
    "h": {"y": 2},
    "i": ["p"],
    "j": [{"a": 4}],
}


def test_a_good_document_is_read_without_problems() -> None:
    document = Document(GOOD, "file")
    assert read_everything(document) == (3, True, "text", 2, [1], [1, 2], 1, [0, 2], ["p"], [4])
    document.finish()
    assert document.problems == []


def test_all_problems_are_found_at_once_each_with_its_place() -> None:
    document = Document({**GOOD, "a": 9, "d": "z", "f": [1, "2"], "g": {"a": True}, "j": [{}], "k": 0}, "file")
    read_everything(document)
    document.finish()
    assert sorted(document.problems) == [
        "file.a must be an integer from 1 to 5, not 9",
        "file.d must be one of x, y, not 'z'",
        "file.f[1] must be an integer from 0 to 9, not '2'",
        "file.g.a must be an integer from 0 to 1, not true",
        "file.j[0].a is missing",
        "file.k is not known here; the known entries are: a, b, c, d, e, f, g, h, i, j",
    ]


@given(JSON)
def test_nothing_makes_reading_raise_and_types_are_always_right(data: object) -> None:
    document = Document(data, "file")
    values = read_everything(document)
    document.finish()
    assert [type(value) for value in values] == [int, bool, str, int, list, list, int, list, list, list]


@given(st.dictionaries(st.sampled_from(list("abcdefghij")), JSON))
def test_what_cannot_be_read_is_always_a_problem(data: dict[str, object]) -> None:
    document = Document(data, "file")
    read_everything(document)
    assert document.problems or data.keys() == GOOD.keys()


@pytest.mark.parametrize(
    "text",
    [
        "a = 'b.c.d.e.f.g.h.i.j.k'  # l.m.n.o.p.q.r.s.t.u",
        'a = "\\"b.c.d.e.f.g.h.i.j.k"\nb = "#"',
        'a = """\nb.c.d.e.f.g.h.i.j.k \\""" "\n"""\nb = \'\'\'\nc.d."e.f.g.h.i.j.k\'\'\'',
        "[a.b.c.d]\ne.f.g = 1.5\nh = 1979-05-27T07:32:00.999Z",
        'a = """b.c.d.e.f.g.h.i.j.k"""""\nb = \'\'\'c.d.e.f.g.h.i.j.k\'\'\'\'\nc = """"""',
        f"{'.'.join('a' * MAX_KEY_PARTS)} = 1",
    ],
)
def test_toml_is_read_as_it_is_by_python(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("part", ["a", "'a'", '"a.b"', " a\t"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "=1"),
        ("[", "]"),
        ("x = { ", "= 1 }"),
        ("#'\n", "= 1"),
        *((f"x = {quote * 3}b{quote * closing}\n", "= 1") for quote in "\"'" for closing in (3, 4, 5)),
    ],
)
@pytest.mark.parametrize("count", [MAX_KEY_PARTS + 1, 200_000])
def test_a_key_of_so_many_parts_that_reading_it_takes_hours_is_refused(
    part: str, before: str, after: str, count: int
) -> None:
    with pytest.raises(ValueError, match=f"has more than {MAX_KEY_PARTS} parts"):
        parse_toml(before + ".".join([part] * count) + after)


@pytest.mark.parametrize(
    "text", ["a = [" * 10_000, "a = " + "1" * 5000, "'" + "a." * 10_000, '"\\"' * 1_000_000, "a" * 4_000_000]
)
def test_toml_that_cannot_be_read_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_toml(text)
