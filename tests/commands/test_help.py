"""Help pages: whole lines, groups, placeholders in words, examples that paste, and one meaning for each option."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from ladder.commands.cli import COMMANDS, LADDER, app
from ladder.commands.help import examples, folded, placeholder
from tests.commands.conftest import ROOT as DOGANA
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana

__all__ = ["dogana"]

ROOT: Any = typer.main.get_command(app)
WIDTHS = [60, 80, 200]
MAX_SUMMARY = 60
PLACEHOLDERS = {
    "ADDRESS",
    "AUTHOR",
    "BANK+INCREMENT/CAP",
    "BOT",
    "DAYS",
    "ENTRANT",
    "FILE",
    "FOLDER",
    "GAME",
    "HOST:PORT",
    "KEY",
    "LANGUAGE",
    "MATCH",
    "MIB",
    "NAME",
    "NAME=VALUE",
    "NEW",
    "NUMBER",
    "OLD",
    "ORIGIN",
    "OTHER",
    "PATH",
    "SEAT",
    "SECONDS",
    "SHARE",
    "SIZE",
    "TEXT",
    "TIME",
    "TOKEN",
    "URL",
}
"""The words that stand for a value; `|` stands between two of them."""
MEANINGS = {
    "--ca": "the certificate by which the other side is known",
    "--clock": "the time of each seat",
    "--game": "the game that it is about",
    "--json": "print JSON",
    "--key": "the public key of the ladder",
    "--limit": "how many of a list, counted from the newest",
    "--listen": "where the command can be reached",
    "--logs": "where that goes which bots write",
    "--option": "an option of the game",
    "--previous": "an earlier audit log",
    "--record": "where records go",
    "--seats": "the number of seats",
    "--seed": "the number that chance comes from",
    "--server": "the ladder, served",
    "--svg": "where drawings go",
    "--top": "how many of the best bots",
    "--unconfined": "run bots with the rights of the user",
    "--wait": "how long agents may take to join",
}
"""The one meaning of each option that commands describe in different words."""


def pages(group: Any = ROOT, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every help page: the words before --help, and the command or group."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from pages(command, *path, name)


PAGES = dict(pages())
PARAMETERS = [(path, param) for path, command in PAGES.items() for param in command.params]


def option(param: Any) -> str:
    """The long name of an option."""
    return str(max(param.opts, key=len))


def pasted(printed: str) -> list[list[str]]:
    """The words of the examples of a help page, as a shell reads them."""
    block = re.search(r"^Examples:\n((?:  .*\n)+)", printed, re.MULTILINE)
    assert block
    return [shlex.split(line) for line in block[1].replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("width", WIDTHS)
def test_help_is_as_wide_as_the_terminal_cuts_nothing_and_its_examples_paste(
    dogana: Dogana, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    widest = 0
    for path, command in PAGES.items():
        printed = dogana(*path, "--help").stdout
        assert not re.search(r"\w\.\.\.$", printed.partition("\n")[2], re.MULTILINE), path
        for line in printed.splitlines():
            assert len(line) <= width or len(line.split()) <= 2, (path, line)
        widest = max(widest, *map(len, printed.splitlines()))
        words = " ".join(printed.split())
        for name, inner in getattr(command, "commands", {}).items():
            assert f"{name} {inner.get_short_help_str()}" in words
            if width == 80:  # each on its line
                assert [name, *inner.get_short_help_str().split()] in [line.split() for line in printed.splitlines()]
        if given := examples(command.help):
            assert pasted(printed) == [shlex.split(one) for one in given]
    assert width - 20 < widest <= width


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_every_command_has_a_summary_of_one_line(path: tuple[str, ...]) -> None:
    text = PAGES[path].get_short_help_str()
    assert text
    assert not path or len(text) <= MAX_SUMMARY
    assert "\n" not in text


@pytest.mark.parametrize(("path", "sections"), [((), COMMANDS), (("ladder",), LADDER)])
def test_commands_are_listed_by_who_needs_them(dogana: Dogana, path: tuple[str, ...], sections: Any) -> None:
    assert list(sections) == ["Look", "Author", "Organise"]
    printed = dogana(*path, "--help").stdout
    parts = dict(re.findall(r"^(\w+):\n((?:  .*\n)+)", printed, re.MULTILINE))
    for heading, names in sections.items():
        assert re.findall(r"^  (\S+)", parts[heading], re.MULTILINE) == list(names)


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_placeholders_are_words(dogana: Dogana, path: tuple[str, ...]) -> None:
    for param in PAGES[path].params:
        if not getattr(param, "is_flag", False):
            word = placeholder(param).removesuffix("...")
            choices = param.type_descriptor.choices
            assert set(word.split("|")) <= ({choice.value for choice in choices} if choices else PLACEHOLDERS), word
            assert word
    printed = dogana(*path, "--help").stdout
    assert not re.search(r"<\w+>|<=|>=|\b(TEXT|INTEGER|FLOAT|DIR|str|int|float|None|True|False)\b", printed) or (
        path == ("ladder", "bots")  # whose [TEXT] is a text
    )


def test_an_option_has_one_placeholder_in_all_commands() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for _, param in PARAMETERS:
        if param.param_type_name == "option":
            found[option(param)].add(placeholder(param))
    assert {name: words for name, words in found.items() if len(words) > 1} == {}


def test_an_option_has_one_meaning_in_all_commands() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for _, param in PARAMETERS:
        if param.param_type_name == "option":
            found[option(param)].add(param.help)
    assert {name: texts for name, texts in found.items() if len(texts) > 1 and name not in MEANINGS} == {}
    assert set(MEANINGS) <= set(found)


def test_an_example_is_of_its_command_and_has_words_that_exist() -> None:
    count = 0
    for path, command in PAGES.items():
        if not isinstance(command, TyperGroup):
            assert any(f"dogana {' '.join(path)}" in one for one in examples(command.help)), path
        for example in examples(command.help):
            count += 1
            _, *words = shlex.split(re.split(r" [|<>]|2>", example)[0])
            if "sudo" in example:
                _, *words = words
            _parse(words)
    assert count > len(PAGES)


def _parse(words: list[str]) -> Any:
    """Read a command line without running it, as it is read when it is run: what does not exist raises."""
    command: Any = ROOT
    while isinstance(command, TyperGroup):
        name, *words = words
        command = command.commands[name]
    return command.make_context(name, words)


NEEDS_MORE = re.compile(
    r"--ray|--listen|--tls|--isolate|login|logout|connect|watch|ladder serve|ladder web|site|doctor|check|ladder run"
    r"|cmd:./|--bot|build/|records/|tournament|event new finale|sunday|requalify 'mybot|dogana compare|--replace|submit mybot\.py$"
)
"""Examples that need a server, a sandbox, other files or minutes; what they show has tests of its own."""


def _started(folder: Path, *words: str) -> None:
    """Run `dogana ...` in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "ladder", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(DOGANA), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )


@pytest.mark.long
def test_examples_run(dogana: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that need no more than a bot, a ladder and a match of it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "data" / "dogana").mkdir(parents=True)
    (tmp_path / "ladder").mkdir()
    (tmp_path / "data" / "dogana" / "ladder").symlink_to(tmp_path / "ladder")
    condition = ["--clock", "600+5/60", "--option", "last_turn=6", "--seats", "2"]
    for version in ("1", "2"):
        (tmp_path / "mybot.py").write_text(
            f"from dogana.sdk import play\nprint({version}, flush=True)\nplay(lambda decision: 0)\n"
        )
        dogana("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me")
        _started(
            tmp_path,
            *["ladder", "run", "--game", "cargo_noir", "--matches", "4", "--workers", "1", "--unconfined"],
            *condition,
        )
    _started(tmp_path, *shlex.split("play cargo_noir cmd:'python mybot.py' greedy --seed 7 --record match.jsonl"))
    (tmp_path / "match.jsonl").rename(tmp_path / "played.jsonl")
    shutil.copy(tmp_path / "ladder" / "key.pub", tmp_path)
    listed = json.loads(dogana("ladder", "matches", "mybot v2", "--json").stdout)["matches"]
    match = next(one["match"] for one in listed if one["seats"][1]["bot"] == "mybot")
    given = [one for command in PAGES.values() for one in examples(command.help) if not NEEDS_MORE.search(one)]
    assert len(given) > 60
    for example in sorted(given, key=lambda one: one.startswith("dogana verify")):  # which read what others write
        shutil.copy(tmp_path / "played.jsonl", tmp_path / "match.jsonl")
        for name in re.findall(
            r" (?:--(?:record|to|html|svg)|finalists) (\S+)", example
        ):  # what another example has written
            path = tmp_path / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        command, _, file = re.sub(r" --server \S+| \|.*", "", example).replace("3f09", match).partition(" > ")
        words = shlex.split(command)[1:]
        if (
            words[0] == "play"
        ):  # it makes itself the parent of what bots leave behind, and kills whatever it did not start
            _started(tmp_path, *words)
            continue
        printed = dogana(*words, status=3 if "--sample" in command else 0).stdout
        if file:
            (tmp_path / file).write_text(printed)


def test_an_option_is_not_parted_from_its_value_nor_a_quoted_word() -> None:
    command = "dogana play yunnan cmd:'python mybot.py' greedy --record match.jsonl --json"
    lines = folded(command, 26)
    assert lines == [
        "dogana play yunnan \\",
        "  cmd:'python mybot.py' \\",
        "  greedy \\",
        "  --record match.jsonl \\",
        "  --json",
    ]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["stanings"], "dogana ladder top"),
        (["ladder", "stanings"], "dogana ladder top"),
        (["leaderboard"], "dogana ladder top"),
        (["run"], "dogana ladder run` or `dogana tournament run"),
        (["submit", "x.py"], "dogana ladder submit"),
        (["ladder", "play"], "dogana play"),
        (["plya"], "dogana play"),
        (["version"], "dogana --version"),
        (["list"], "dogana games"),
        (["ladder", "version"], "dogana --version"),
        (["ladder", "list"], "dogana ladder bots` or `dogana ladder matches"),
        (["quota"], "dogana ladder author quota"),
        (["help", "submit"], "dogana ladder submit"),
    ],
    ids=" ".join,
)
def test_an_unknown_command_is_answered_with_the_one_that_was_meant(
    dogana: Dogana, words: list[str], meant: str
) -> None:
    assert f"Did you mean `{meant}`?" in dogana(*words, status=2).stderr


def test_an_unknown_command_like_no_other_is_reported(dogana: Dogana) -> None:
    assert dogana("xyzzy", status=2).stderr.endswith("Error: No such command 'xyzzy'.\n")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["play", "--gmes", "3"], "--games"),
        (["ladder", "top", "--sever", "x"], "--server"),
        (["ladder", "serve", "--lsten", "x"], "--listen"),
    ],
    ids=" ".join,
)
def test_an_unknown_option_is_answered_with_the_one_that_was_meant(
    dogana: Dogana, words: list[str], meant: str
) -> None:
    assert meant in dogana(*words, status=2).stderr.partition("Possible options")[2]


@pytest.mark.parametrize("words", [(), ("ladder",), ("ladder", "author")], ids=" ".join)
def test_a_group_without_a_command_prints_its_help(dogana: Dogana, words: tuple[str, ...]) -> None:
    assert dogana(*words, status=2).stderr == dogana(*words, "--help").stdout


@pytest.mark.parametrize("words", [(), ("play",), ("ladder",), ("ladder", "top"), ("ladder", "author", "add")])
def test_help_before_a_command_is_its_help_page(dogana: Dogana, words: tuple[str, ...]) -> None:
    page = dogana(*words, "--help").stdout
    assert dogana("help", *words).stdout == page
    if words[:1] == ("ladder",):
        assert dogana("ladder", "help", *words[1:]).stdout == page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["play", "yunnan", "greedy", "--games", "x"],
            "Invalid value for '--games': must be a whole number, 1 to 1000000",
        ),
        (["play", "yunnan", "greedy", "--games", "0"], "must be a whole number, 1 to 1000000"),
        (["play", "yunnan", "greedy", "--wait", "soon"], "must be a number, 0.1 to 86400"),
        (["replay", "m.jsonl", "--views", "mine"], "Invalid value for '--views': must be one of all, public"),
        (["play"], "Invalid value for GAME SEAT...: name a game, and a player for each seat"),
        (["rules"], "Missing argument 'GAME'. The games are: cargo_noir, valparaiso, venezia, yunnan."),
        (["ladder", "run", "--matches", "3"], "Missing option '--game'. The games are: cargo_noir, "),
        (["ladder", "record", "3f09"], "Missing option '--to'. The file to write."),
        (["ladder", "log", "mybot", "x"], "Invalid value for 'SEAT': must be a whole number, at least 0"),
    ],
    ids=" ".join,
)
def test_values_are_refused_in_the_words_of_the_help_page(dogana: Dogana, words: list[str], message: str) -> None:
    assert message in dogana(*words, status=2).stderr


def test_only_the_commands_that_serve_load_a_web_server() -> None:
    """Every start of any command would pay for it."""
    program = "import sys, ladder.commands.cli; print(sorted({'starlette', 'uvicorn', 'jinja2'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n", ended.stderr
