"""Docstrings and docs name things with nouns. This guards the folders and pages that have been edited for it.

Names are guarded everywhere: a class name has one meaning, words that tell a reader nothing are in no name of a class or a
function, and no variable, parameter, attribute, field or key is such a word, in tests neither.
It finds the habits that a pattern can find, and no others: that a text is good English, only a reader can tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.static
ROOT = Path(__file__).resolve().parents[2]

ROOMS = ["agents/house_bots", "agents/kits", "bench", "ladder", "referee"]
FILES = [
    *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if "tests" not in path.parts),
    *(path for room in ("dogana", "proto") for path in sorted((ROOT / room).glob("*.py"))),
]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]

SOURCES = [
    *ROOT.glob("*.py"),
    *(
        path
        for room in ("agents", "bench", "docs", "dogana", "ladder", "proto", "referee", "tests")
        for path in sorted((ROOT / room).rglob("*.py"))
        if not path.stem.endswith(("_pb2", "_pb2_grpc"))
    ),
]
"""All our Python, the tests included."""
MODULES = [
    path
    for room in ("referee", "ladder", "agents", "proto", "dogana")
    for path in sorted((ROOT / room).rglob("*.py"))
    if "tests" not in path.parts and not path.stem.endswith(("_pb2", "_pb2_grpc"))
]
GAMES = re.compile(r"referee/games/\w+/|agents/house_bots/(?:greedy|search)/")
"""A game names its classes by its own rules, and no other code names a game: each has its own `Card` and `Phase`."""
TWO_MEANINGS = {"Decision"}
"""Class names that are defined twice: a decision is the same thing to the referee and to the SDK. Add nothing here."""
WORDS = "asked|told|kept|shown|shelf|crowds?|turns|luggage|hall|wish|newspaper|chronicle|walls"
BAD_WORD = re.compile(
    r"(?:^|_|(?<=[a-z])(?=[A-Z]))"
    rf"(?i:{WORDS})"
    r"(?:_|$|(?=[A-Z]))"
)
"""A word in a name that does not say what the thing is."""
BAD_IDENTIFIER = re.compile(rf"_*(?:{WORDS})_*", re.I)
"""A name that is nothing but such a word."""
BAD_FIELD = re.compile(rf"\b(?:{WORDS}) = \d+\s*[;\[]")
"""A field of a message, or a value of an enum, that is one of these words."""
BAD_NAMES = {
    "agents/house_bots/greedy/yunnan_outlook.py: _turns_to": "a turn of the game",
    "agents/house_bots/greedy/yunnan_outlook.py: turns_left": "a turn of the game",
    "referee/games/yunnan/turns.py": "a turn of the game",
}
"""Names that have such a word, with the reason for which they stay."""

CLAUSE = re.compile(r"(?:What|Which|Who|Whom|Whose|How|Where|When|Why|Whether)\b")
"""The beginning of a noun clause: `What is sent` instead of `The message`."""
VERB_AND_CLAUSE = re.compile(
    r"(?:Check|Describe|Find|Measure|Note|Print|Return|Say|Show|Tell|Yield) "
    r"(?:(?:after|between|by|for|from|in|of|to|under) )?(?:what|who|whom|how|where|when|why)\b"
    r"|(?:Say|Tell) (?:that|whether|which)\b"
)
"""The same after a verb: `Return what is sent` instead of `Return the message`. (`Return whether` is natural for a bool.)"""
HABITS = re.compile(
    r"\bso (?:many|much|long)\b(?! [^.]*\bthat\b)"  # for a number or a maximum
    r"|\b(?:is|are|was|were) told\b"  # for a line that is printed
    r"|(?:^(?:- )?|[.:] )(?:What|Who|Whom|Whose)\b[^?]*$"  # a clause in the place of a noun, and no question
)
"""Habits in the sentences of a page."""


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, also of those below attributes."""
    for node in ast.walk(ast.parse(source)):
        for inner in ast.iter_child_nodes(node):
            match inner:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield inner.lineno, text.strip()


def is_clause(text: str) -> bool:
    """Return True if a docstring begins with a clause in the place of a noun."""
    return bool(CLAUSE.match(text) or VERB_AND_CLAUSE.match(text))


def prose(page: str) -> str:
    """Return a page without code blocks, tables and headings, in lines of the same numbers."""
    page = re.sub(r"^( *)```.*?^\1```", lambda block: "\n" * block[0].count("\n"), page, flags=re.M | re.S)
    return re.sub(r"^ *[|#].*", "", page, flags=re.M)


def definitions(source: str) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield all classes and functions, also those inside of others."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def bad_names(path: str, source: str) -> Iterator[str]:
    """Yield the name of a module, and of its classes and functions, as far as they have a bad word."""
    if BAD_WORD.search(Path(path).stem):
        yield path
    yield from (f"{path}: {node.name}" for node in definitions(source) if BAD_WORD.search(node.name))


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each variable, parameter, argument, attribute, import, definition and key of a dictionary."""
    for node in ast.walk(ast.parse(source)):
        names: list[str | None] = []
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names = [name]
            case (
                ast.keyword(arg=name) | ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name)
            ):
                names = [name]
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names = [name]
            case ast.MatchMapping(rest=name):
                names = [name]
            case ast.alias(name=name, asname=other):
                names = [*name.split("."), other]
            case ast.MatchClass(kwd_attrs=[*attributes]):
                names = [*attributes]
            case ast.Dict(keys=[*keys]):
                names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        line = getattr(node, "lineno", 0)
        yield from ((line, name) for name in names if name is not None)


def bad_identifiers(path: str, source: str) -> list[str]:
    """Return the identifiers of a file that are nothing but a bad word, or a constant that has one, with their lines."""
    return [
        f"{path}:{line}: {name}"
        for line, name in identifiers(source)
        if BAD_IDENTIFIER.fullmatch(name) or (name.isupper() and BAD_WORD.search(name))
        if not (re.search(r"(?:^|_)turns_*$", name, re.I) and GAMES.match(path))
    ]


def test_no_public_class_name_is_defined_twice() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        for node in definitions(path.read_text()):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not GAMES.match(name):
                places.setdefault(node.name, []).append(f"{name}:{node.lineno}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in TWO_MEANINGS} == {}
    assert twice.keys() >= TWO_MEANINGS, "take these out of the list"


def test_no_name_has_a_word_that_says_nothing() -> None:
    found = {name for path in MODULES for name in bad_names(path.relative_to(ROOT).as_posix(), path.read_text())}
    assert found - BAD_NAMES.keys() == set()
    assert BAD_NAMES.keys() - found == set(), "take these out of the list"


def test_no_identifier_is_such_a_word() -> None:
    found = [
        bad
        for path in SOURCES
        if re.search(rf"\b{BAD_IDENTIFIER.pattern}\b", text := path.read_text(), re.I)
        for bad in bad_identifiers(path.relative_to(ROOT).as_posix(), text)
    ]
    assert found == []


def test_no_field_of_a_message_is_such_a_word() -> None:
    files = [*(ROOT / "proto").rglob("*.proto"), *(ROOT / "tests").rglob("*.proto")]
    assert [(path.name, found[0]) for path in files for found in BAD_FIELD.finditer(path.read_text())] == []


def test_no_file_of_tests_has_such_a_word_in_its_name() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")}
    assert {name for name in names if BAD_WORD.search(Path(name).stem)} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_docstring_begins_with_a_clause(path: Path) -> None:
    assert [(line, text) for line, text in docstrings(path.read_text()) if is_clause(text)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_has_these_habits(path: Path) -> None:
    lines = enumerate(prose(path.read_text()).splitlines(), start=1)
    assert [(number, line) for number, line in lines if HABITS.search(line)] == []


def test_it_finds_what_it_should_find() -> None:
    source = 'SENT: bytes\n"""What is sent."""\n\n\ndef kept() -> bool:\n    """Whether it is kept."""\n'
    assert [line for line, text in docstrings(source) if is_clause(text)] == [2, 6]
    assert not is_clause("Whatever follows.")
    assert is_clause("Return what is sent.")
    assert is_clause("Return for whom it counts.")
    assert is_clause("Tell whether a match is over.")
    assert not is_clause("Return whether a match is over.")
    assert HABITS.search("It takes so many seconds.")
    assert HABITS.search("- What is sent is dropped.")
    assert HABITS.search("That is told on standard error.")
    assert not HABITS.search("Is it late? What did it send?")
    assert not HABITS.search("There are so many that a page is full.")
    assert prose("# So many\n\n```\nso many\n```\n| so many |\nText.\n") == "\n\n\n\n\n\nText.\n"
    assert list(bad_names("x/kept.py", "class Turns:\n    def ask(self): ...\n    def _shown(self): ...\n")) == [
        "x/kept.py",
        "x/kept.py: Turns",
        "x/kept.py: _shown",
    ]
    assert list(bad_names("x/recall.py", "def crowded(): ...\ndef returns(): ...\nclass Wishes: ...\n")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("asked: int = 0", {"asked"}),
        ("def f(_kept, *told, **shown): ...", {"_kept", "told", "shown"}),
        ("def walls(): ...\nclass Hall: ...", {"walls", "Hall"}),
        ("self._told = f(shown=a.kept)", {"_told", "shown", "kept"}),
        ("import a.hall\nfrom a import b as crowd", {"hall", "crowd"}),
        ("match x:\n    case C(shown=1) | [*asked] as kept: ...", {"shown", "asked", "kept"}),
        ("try: ...\nexcept E as told: ...", {"told"}),
        ("one = {'kept': 1, **{'told': 2}}", {"kept", "told"}),
        ("TURNS = {turn for turns in x}", {"TURNS", "turns"}),
        ("told_apart = asks('told').returns", set()),
        ("_MAX_KEPT = kept_at", {"_MAX_KEPT"}),
    ],
)
def test_it_finds_each_kind_of_identifier(source: str, found: set[str]) -> None:
    assert {name.rpartition(": ")[2] for name in bad_identifiers("x/y.py", source)} == found


def test_a_turn_of_a_game_has_its_name_and_no_other_bad_word_has_an_exception() -> None:
    assert bad_identifiers("referee/games/nim/rules.py", "left.turns = TURNS") == []
    assert bad_identifiers("agents/house_bots/greedy/nim.py", "turns = kept") == [
        "agents/house_bots/greedy/nim.py:1: kept"
    ]
    assert BAD_FIELD.search("  uint32 told = 11;")
    assert not BAD_FIELD.search("  uint32 step = 11;  // was told")
