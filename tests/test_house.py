"""The rules of the house: who may import whom, and that nothing outside of a game's folder knows the game."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from referee.live.messages.codec import codec
from referee.registry import find, games

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ("dogana", "referee", "house_bots", "ladder")
FOLDERS = ("dogana", "referee", "agents", "ladder")

# What a folder may import of ours. Imports only point downwards: ladder -> referee -> dogana, house_bots -> referee, dogana.
MAY_IMPORT = {
    "dogana": {"dogana"},
    "referee": {"referee", "dogana"},
    "agents": {"house_bots", "referee", "dogana"},
    "ladder": {"ladder", "referee", "dogana"},
}

# The room of the ladder that tries bots plays the referee itself, so it speaks the messages. It knows no facts of the
# ladder: no store, schedule or rating.
CONFORMANCE = "ladder/conformance"
CONFORMANCE_MAY_IMPORT = ("ladder.conformance", "ladder.operation.errors")

# All that the rules of a game may import: plain data tools. No clock, no files, no randomness, no protobuf.
RULES_MAY_IMPORT = {
    "__future__", "abc", "bisect", "collections", "collections.abc", "dataclasses", "enum", "functools", "heapq", "itertools",
    "math", "operator", "typing", "typing_extensions", "referee.game", "referee.kit.document", "referee.named", "referee.options",
}  # fmt: skip
# A drawing writes SVG besides.
DRAWING_MAY_IMPORT = RULES_MAY_IMPORT | {
    "html",
    "textwrap",
    "unicodedata",
    "xml.sax.saxutils",
    "referee.kit.scene",
    "referee.kit.svg",
}


# All that the match machine may import: no clock, socket, file or process.
MATCH_MAY_IMPORT = {
    "__future__", "collections.abc", "dataclasses", "enum", "hashlib", "json", "re", "typing", "referee.game", "referee.kit.chance", "referee.options",
}  # fmt: skip

# The same for the verdict on two versions.
VERDICT_MAY_IMPORT = {
    "__future__", "collections", "collections.abc", "dataclasses", "enum", "functools", "math", "statistics", "typing",
    "referee.match.result", "referee.match.seatings",
}  # fmt: skip

# All that tournaments may import: what follows from a file and from results knows no clock, file or process.
TOURNAMENT_MAY_IMPORT = {
    "__future__", "collections", "collections.abc", "dataclasses", "enum", "fractions", "functools", "hashlib", "importlib", "itertools",
    "math", "networkx", "random", "tomllib", "typing", "referee.errors", "referee.kit.chance", "referee.kit.document", "referee.match.clock",
    "referee.match.result", "referee.registry",
}  # fmt: skip


def sources(*folders: str) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not {"tests", "v1"} & set(path.relative_to(ROOT).parts) and path.parent.name != "games"
    ]


@cache
def imports(path: Path) -> list[str]:
    return list(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_downwards(package: str) -> None:
    for path in sources(package):
        for name in imports(path):
            top = name.partition(".")[0]
            assert top not in HOUSE or top in MAY_IMPORT[package], f"{path} imports {name}"


def test_conformance_stands_beside_the_facts_of_the_ladder() -> None:
    command = ROOT / "ladder" / "commands" / "check.py"
    for path in sources("ladder"):
        for name in imports(path):
            if path.is_relative_to(ROOT / CONFORMANCE) and name.startswith("ladder"):
                assert name.startswith(CONFORMANCE_MAY_IMPORT), f"{path} imports {name}"
            elif name.startswith("ladder.conformance"):
                assert path == command, f"{path} imports {name}"


# The rooms of a folder, from the ground up. A room imports only what stands below it.
ROOMS = {
    "referee": (
        "errors",
        "version",
        "terminal",
        "files",
        "sandbox",
        "kit",
        "options",
        "game",
        "playout",
        "named",
        "games",
        "match",
        "verdict",
        "registry",
        "bots",
        "records",
        "tournament",
        "pages",
        "live",
        "contract",
        "commands",
    ),
    "referee/live": ("messages", "seats", "doors", "matches"),
    "ladder": (
        "model",
        "operation",
        "conformance",
        "facts",
        "archive",
        "intake",
        "tables",
        "play",
        "questions",
        "service",
        "http",
        "commands",
        "__main__",
    ),
    "ladder/http": ("requests", "rendering", "pictures", "api", "pages", "people", "app", "publishing"),
}
MOST_FLOORS = 9
"""How many rooms of the ladder may stand above each other."""


def rooms_of(folder: str) -> dict[str, list[Path]]:
    """The modules of each room; files that Python does not read are no room."""
    found: dict[str, list[Path]] = {}
    for path in sources(folder):
        room = path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
        if room != "__init__":
            found.setdefault(room, []).append(path)
    return found


def arrows(folder: str) -> set[tuple[str, str, Path]]:
    """Which room imports which, and where."""
    package = folder.replace("/", ".") + "."
    return {
        (room, name.removeprefix(package).split(".")[0], path)
        for room, paths in rooms_of(folder).items()
        for path in paths
        for name in imports(path)
        if name.startswith(package)
    }


@pytest.mark.parametrize("folder", ROOMS)
def test_no_room_imports_what_stands_above_it(folder: str) -> None:
    floors = ROOMS[folder]
    assert set(rooms_of(folder)) | ({"games"} if folder == "referee" else set()) == set(floors)
    for room, other, path in arrows(folder):
        assert floors.index(other) <= floors.index(room), f"{path} imports {other}"


def test_the_ladder_has_few_floors() -> None:
    below = {room: {other for one, other, _ in arrows("ladder") if one == room != other} for room in ROOMS["ladder"]}
    floor: dict[str, int] = {}
    for room in ROOMS["ladder"]:
        floor[room] = 1 + max((floor[other] for other in below[room]), default=0)
    assert max(floor.values()) <= MOST_FLOORS, floor


def test_the_picture_of_the_architecture_has_each_room_in_its_place() -> None:
    picture = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    at = {house: picture.index(f"| {house} ") for house in ("ladder", "referee")}
    ladder, referee = picture[at["ladder"] : at["referee"]], picture[at["referee"] :]
    assert re.findall(r"^  \|   (\w+)/ ", ladder, re.MULTILINE) == [
        room for room in reversed(ROOMS["ladder"]) if room != "__main__"
    ]
    drawn = re.findall(r"(?:^  \|   |, )(\w+)(?:/ |\.py)", referee, re.MULTILINE)
    assert drawn == list(reversed(ROOMS["referee"]))
    live = re.findall(r"(\w+)/(?: over|  +\|$)", referee, re.MULTILINE)
    assert live == list(reversed(ROOMS["referee/live"]))


def test_the_sdk_needs_nothing_but_the_messages() -> None:
    for path in (ROOT / "dogana").glob("*.py"):
        for name in imports(path):
            assert name.partition(".")[0] not in {"referee", "ladder", "house_bots"}


def test_a_kit_needs_nothing_but_the_sdk_and_the_messages() -> None:
    """But for the bot that searches, which needs the rules."""
    for path in sources("agents/kits"):
        for name in imports(path) if path.parent.name != "search" else ():
            assert name.partition(".")[0] not in {"referee", "ladder", "house_bots"}, f"{path} imports {name}"


@pytest.mark.parametrize("game", games())
def test_rules_import_nothing_but_the_contract_and_plain_data_tools(game: str) -> None:
    for path in sources(f"referee/games/{game}"):
        allowed = DRAWING_MAY_IMPORT if path.name.startswith("drawing") else RULES_MAY_IMPORT
        for name in imports(path):
            assert name in allowed or name.startswith(f"referee.games.{game}"), f"{path} imports {name}"


def test_the_match_machine_is_pure() -> None:
    """No clock, socket, file or process in what decides: in all of `referee/match/`."""
    for path in sources("referee/match"):
        for name in imports(path):
            assert name in MATCH_MAY_IMPORT or name.startswith("referee.match."), f"{path} imports {name}"


def test_tournaments_are_pure() -> None:
    for path in sources("referee/tournament"):
        for name in imports(path):
            assert name in TOURNAMENT_MAY_IMPORT or name.startswith("referee.tournament."), f"{path} imports {name}"


def test_what_a_verdict_follows_from_is_pure() -> None:
    """No clock, socket, file or process: the verdict follows from the results of matches alone."""
    for path in sources("referee/verdict"):
        for name in imports(path):
            assert name in VERDICT_MAY_IMPORT or name.startswith("referee.verdict."), f"{path} imports {name}"


@pytest.mark.parametrize("game", games())
def test_actions_and_observations_mirror_the_messages_of_the_game(game: str) -> None:
    codec(find(game))


@pytest.mark.parametrize("game", games())
def test_nothing_outside_its_folder_names_a_game(game: str) -> None:
    """Its folder, its messages, its modules among the house bots, the bots of the kits, and examples in help texts and comments."""
    bots = ROOT / "agents" / "house_bots"
    own = {ROOT / "referee" / "games" / game, bots / "greedy", bots / "search", ROOT / "agents" / "kits"}
    for path in sources("referee", "agents", "ladder"):
        if own & set(path.parents):
            continue
        for line, name in _names(path):
            assert game not in name, f"{path}:{line}"


@cache
def _names(path: Path) -> list[tuple[int, str]]:
    """The names and texts in a module but for its docstrings, with their lines."""
    return [
        (getattr(node, "lineno", 0), name)
        for node in ast.walk(_without_prose(ast.parse(path.read_text())))
        for key in ("id", "attr", "name", "module", "value")
        if isinstance(name := getattr(node, key, ""), str)
    ]


def _without_prose(tree: ast.Module) -> ast.Module:
    """A module without its docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [
                part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
    return tree


def test_commands_print_through_the_one_module_that_makes_text_of_strangers_visible() -> None:
    for path in sources("referee", "ladder"):
        if path == ROOT / "referee" / "commands" / "output.py":
            continue
        assert not {"rich", "rich.console", "rich.text", "rich.markup", "rich.panel"} & set(imports(path)), path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                assert ast.unparse(node.func) not in ("print", "sys.stdout.write", "typer.echo"), (
                    f"{path}:{node.lineno}"
                )


def test_no_module_has_grown_beyond_finding_ones_way() -> None:
    long = {str(path): count for path in sources(*FOLDERS) if (count := len(path.read_text().splitlines())) > 600}
    assert not long


def test_the_names_of_the_top_level_are_those_of_the_standard_library_nowhere() -> None:
    assert not set(HOUSE) & sys.stdlib_module_names
