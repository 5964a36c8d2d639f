"""The words for a seat: paths of bots wherever one is taken, and what is said of words that are none."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from referee.bots.errors import BadBot
from referee.bots.manifest import PROJECTS
from referee.bots.python import syntax_error
from referee.commands.seats import SeatError, read_travelling
from referee.registry import find
from tests.cases import mostly_long
from tests.commands.conftest import Dogana

PLAYS = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
FIRST = ("play", "cargo_noir")
QUICK = ("--seed", 5, "--option", "last_turn=3", "--json")
BEHIND_ENV = {
    "env_plays": ["env", "-u", "HOME", "A=1", "python", "bot.py"],
    "env_missing": ["env", "-u", "HOME", "A=1", "./bot"],
    "env_no_program": ["env", "A=1", "no-such-program", "x"],
    "env_nothing": ["env", "A=1"],
}
"""Commands that begin with `env`."""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """A folder with a bot of every kind that is taken, and with what is taken for one by mistake."""
    (tmp_path / "mybot.py").write_text(PLAYS)
    (tmp_path / "greedy").write_text(f"#!{sys.executable}\n{PLAYS}")
    (tmp_path / "greedy").chmod(0o755)
    (tmp_path / "-dashed.py").write_text(PLAYS)
    (tmp_path / "two words.py").write_text(PLAYS)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "helper.py").write_text("def answer(decision):\n    return 0\n")
    (folder / "main.py").write_text("from dogana.sdk import play\nfrom helper import answer\nplay(answer)\n")
    (folder / "bot.toml").write_text('run = ["python", "main.py"]\n')
    with zipfile.ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.writestr("bot.py", PLAYS)
    (tmp_path / "yunnan_only").mkdir()
    (tmp_path / "yunnan_only" / "bot.py").write_text(PLAYS)
    (tmp_path / "yunnan_only" / "bot.toml").write_text('games = ["yunnan"]\n')
    for name in (
        "bot.c",
        "bot.cpp",
        "bot.go",
        "bot.rs",
        "Bot.java",
        "bot.ts",
        "notes.txt",
        "script.sh",
        "no_first_line",
    ):
        (tmp_path / name).write_text("#!/bin/sh\n" if name == "script.sh" else "x\n")
    (tmp_path / "no_first_line").chmod(0o755)
    (tmp_path / "ruby").write_text("#!/usr/bin/env no-such-interpreter\n")
    (tmp_path / "ruby").chmod(0o755)
    (tmp_path / "bot.exe").write_bytes(b"MZ\0\0")
    (tmp_path / "empty").mkdir()
    (tmp_path / "unbuilt").mkdir()
    (tmp_path / "unbuilt" / "Cargo.toml").write_text("")
    (tmp_path / "unbuilt" / "bot.toml").write_text('run = ["./bot"]\n')
    for name, run in BEHIND_ENV.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").write_text(PLAYS)
        (tmp_path / name / "bot.toml").write_text(f"run = {json.dumps(run)}\n")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "main.py").write_text(PLAYS)
    (tmp_path / "sources" / "other.py").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "bot.toml").write_text("run = [")
    (tmp_path / "not.zip").write_text("no archive")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(5 << 30)
    (tmp_path / "link").symlink_to("mybot.py")
    (tmp_path / "circle").symlink_to("circle")
    return tmp_path


@pytest.mark.parametrize(
    "word",
    mostly_long(
        ["./mybot.py", "bot.zip", "./greedy", "two words.py", "mybot.py", "folder", "./-dashed.py", "env_plays"], 4
    ),
)
@pytest.mark.usefixtures("bots")
def test_a_path_takes_a_seat(dogana: Dogana, word: str) -> None:
    [seat, _] = json.loads(dogana(*FIRST, word, "random", *QUICK).stdout)["seats"]
    assert (seat["bot"], seat["outcome"]) == (word, "played")


def test_a_path_takes_a_seat_from_elsewhere_and_the_bot_runs_in_its_own_folder(dogana: Dogana, bots: Path) -> None:
    (bots / "folder" / "main.py").write_text(
        "import os\nfrom dogana.sdk import play\nopen('here', 'w').write(os.getcwd())\nplay(lambda decision: 0)\n"
    )
    dogana(*FIRST, bots / "folder", "random", *QUICK)
    assert (bots / "folder" / "here").read_text() == str(bots / "folder")


@pytest.mark.parametrize("word", ["mybot.py", "folder", "bot.zip"])
def test_in_the_sandbox_a_path_is_what_would_be_submitted(dogana: Dogana, bots: Path, word: str) -> None:
    (bots / "mybot.py").write_text(f"import os\nassert os.listdir() == ['mybot.py'], os.listdir()\n{PLAYS}")
    [seat, _] = json.loads(dogana(*FIRST, word, "random", *QUICK, "--isolate").stdout)["seats"]
    assert (seat["bot"], seat["outcome"]) == (word, "played")


def test_paths_play_a_series(dogana: Dogana, bots: Path) -> None:
    ended = dogana(*FIRST, "folder", bots / "bot.zip", *QUICK, "--games", 2, "--rotate", "--workers", 2)
    assert len(ended.stdout.splitlines()) == 4
    assert "2 seeds in 2 rotations of the seats: 4 matches" in ended.stderr


@pytest.mark.usefixtures("bots")
def test_a_house_bot_goes_before_a_file_of_its_name(dogana: Dogana) -> None:
    seats = json.loads(dogana(*FIRST, "greedy", "./greedy", *QUICK).stdout)["seats"]
    assert seats[0]["score"] > seats[1]["score"]  # the file plays the first legal action


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize("word", mostly_long(["folder", "mybot.py", "bot.zip"]))
def test_a_path_is_asked_again(dogana: Dogana, word: str) -> None:
    dogana(*FIRST, word, "random", *QUICK, "--record", "m.jsonl")
    printed = dogana("replay", "m.jsonl", "--as", 0, "--bot", word, "--unconfined").stdout
    assert " decisions the same" in printed


def test_a_bot_that_goes_to_other_machines_has_its_folder_below_this_one(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = find("cargo_noir")
    monkeypatch.chdir(bots)
    assert read_travelling("folder", game, None).folder == Path("folder")
    assert read_travelling("mybot.py", game, None).folder == Path()
    assert read_travelling(str(bots / "folder"), game, None).argv == ("python", "main.py")
    monkeypatch.chdir(bots / "folder")
    with pytest.raises(SeatError, match=r"mybot\.py is not in this folder, whose files go to other machines"):
        read_travelling("../mybot.py", game, None)
    with pytest.raises(BadBot, match="is an archive; a bot runs where it is, so unpack it first"):
        read_travelling("../bot.zip", game, None)
    with pytest.raises(SeatError, match=r"there is no house bot 'gredy' \(did you mean greedy\?\)"):
        read_travelling("gredy", game, None)


WRONG = [
    ("gredy", "there is no house bot 'gredy' (did you mean greedy?); a seat is one of greedy, random, search, or the path of a bot"),
    ("nix", "there is no house bot 'nix'; a seat is one of"),
    ("", "there is no house bot ''; a seat is one of"),
    ("search:seconds=0", "house bot 'search:seconds=0': seconds must be a number from 0.001 to 3600, not '0'"),
    ("search:rollouts=", "house bot 'search:rollouts=': rollouts must be a whole number from 1 to 1000000000, not ''"),
    ("search:seed=nan", "house bot 'search:seed=nan': seed must be a whole number from 0 to 4611686018427387904, not 'nan'"),
    ("mybto.py", "there is no file or folder 'mybto.py'"),
    ("./nix", "there is no file or folder './nix'"),
    ("x" * 5000, "there is no house bot 'xxx"),
    ("bot.c", "bot.c is C source; compile it, and give the program: cc -O2 -o bot bot.c"),
    ("./bot.cpp", "bot.cpp is C++ source; compile it, and give the program: g++ -O2 -o bot bot.cpp"),
    ("bot.go", "bot.go is Go source; compile it, and give the program: go build -o bot bot.go"),
    ("bot.rs", "bot.rs is Rust source; compile it, and give the program: rustc -O -o bot bot.rs"),
    ("Bot.java", "Bot.java is Java source; compile it, and give the program: javac -d classes Bot.java && jar"),
    ("bot.ts", "bot.ts is TypeScript source; compile it, and give the program: npx tsc bot.ts"),
    ("bot.exe", "bot.exe is a program for Windows; compile it for Linux"),
    ("script.sh", "script.sh is not executable; use chmod +x script.sh; or"),
    ("notes.txt", "use chmod +x notes.txt, and begin it with a line such as #!/usr/bin/env python3"),
    ("no_first_line", "no_first_line has no #! line, and is not a program for Linux"),
    ("ruby", "ruby wants no-such-interpreter, which is not among the usual programs here"),
    ("empty", "empty is an empty folder; put the files of the bot there, or name another"),
    ("sources", 'sources does not say how to start it: call the program bot, or add bot.toml with run = ["python", "main.py"]'),
    ("unbuilt", f"there is no file ./bot to run; build it first ({PROJECTS['Cargo.toml']}), and put the program there"),
    ("env_missing", 'there is no file ./bot to run; bot.toml may say run = ["./program"]'),
    ("env_no_program", 'that says run = ["env", "A=1", "PROGRAM", "x"]'),
    ("env_nothing", 'env is given no program to start; or give its folder, with a bot.toml that says run = ["env", "A=1", "./program"]'),
    ("broken", "broken: bot.toml is not TOML"),
    ("yunnan_only", "yunnan_only does not play cargo_noir; its bot.toml names: yunnan"),
    ("not.zip", "not.zip is a damaged archive, or none at all"),
    ("pipe", "pipe is neither a file nor a folder"),
    ("/dev/zero", "/dev/zero is neither a file nor a folder"),
    ("large", "large has 5,368,709,120 bytes; a bot may have 209,715,200"),
    ("link", "link is a link; name the file or folder that it leads to"),
    ("circle", "circle is a link"),
    ("/", "/ does not say how to start it"),
    ("a\x1b[31m\nb.py", r"the name 'a\x1b[31m\nb.py' has characters that cannot be printed; rename the file"),
    ("a\udcffb.py", r"the name 'a\udcffb.py' has characters that cannot be printed; rename the file"),
]  # fmt: skip


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize(("word", "reason"), WRONG, ids=[reason[:40] for _, reason in WRONG])
def test_a_word_that_is_no_seat_is_said_in_one_line(here: Dogana, word: str, reason: str) -> None:
    said = here(*FIRST, word, "random", status=1).stderr
    assert said.startswith("dogana: ")
    assert reason in said
    assert len(said.splitlines()) == 1


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize(
    ("word", "reason"), [one for one in WRONG if one[0] in ("bot.c", "unbuilt", "script.sh", "empty")]
)
def test_submitting_says_the_same(here: Dogana, word: str, reason: str) -> None:
    said = here("ladder", "submit", word, "--name", "x", "--author", "me", status=1).stderr
    assert reason in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("words", [("check",), ("ladder", "submit", "--name", "x", "--author", "me")])
def test_a_house_bot_with_options_is_no_path(here: Dogana, words: tuple[str, ...]) -> None:
    said = here(*words, "search:seconds=0", status=1).stderr
    assert said == "dogana: there is no file or folder search:seconds=0\n"


@pytest.mark.parametrize("word", ["bad.py", "bad"])
def test_a_bot_that_python_cannot_read_is_not_submitted(here: Dogana, tmp_path: Path, word: str) -> None:
    (tmp_path / "bad").mkdir()
    for name in ("bad.py", "bad/main.py"):
        (tmp_path / name).write_text("x = 1\ndef choose(decision:\n")
    (tmp_path / "bad" / "bot.toml").write_text('run = ["python", "-u", "main.py"]\n')
    said = here("ladder", "submit", word, "--name", "x", "--author", "me", "--home", "home", status=1).stderr
    file = "bad.py" if word == "bad.py" else "main.py"
    assert said == f"dogana: {file}, line 2: SyntaxError: '(' was never closed, in: def choose(decision:\n"
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("text", ["\0", "(" * 100_000, "x = " + "-" * 100_000 + "1", "\xff\xfe", "# coding: nothing\n"])
def test_whatever_a_file_has_reading_it_as_python_ends_well(tmp_path: Path, text: str) -> None:
    (tmp_path / "bot.py").write_bytes(text.encode("latin-1"))
    assert "\n" not in syntax_error(tmp_path / "bot.py")


def test_what_python_does_not_run_has_no_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("#!/bin/sh\nif\n")
    (tmp_path / "bot").chmod(0o755)
    for name in ("bot", "nothing", "."):
        assert syntax_error(tmp_path / name) == ""


def test_a_game_that_is_almost_right_is_asked_for(here: Dogana) -> None:
    assert "there is no game 'yunan' (did you mean yunnan?)" in here("play", "yunan", "greedy", status=1).stderr


FAILING = [
    ("def choose(decision:\n", r"bot.py, line 1: SyntaxError: '(' was never closed, in: def choose(decision:"),
    ("if True:\nx = 1\n", "bot.py, line 2: IndentationError: expected an indented block"),
    (
        "import no_such_module\n",
        "line 1: ModuleNotFoundError: No module named 'no_such_module'; install the package that has",
    ),
    ("print('ValueError: no')\nprint('  File \"bot.py\", line 1')\n", "joined: ValueError: no"),
    ("\nx = [][1]\n", "bot.py, line 2: IndexError: list index out of range, in: x = [][1]"),
    (
        "def choose(decision):\n    return 0\n",
        "it never called play; end the file with play(choose), after from dogana.sdk",
    ),
]


@pytest.mark.parametrize(("text", "reason"), FAILING)
def test_why_a_bot_has_not_joined_is_said_in_one_line(dogana: Dogana, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bot.py").write_text(text)
    said = dogana(*FIRST, "bot.py", "random", status=1).stderr
    assert "before it joined: " in said
    assert reason in said
    assert len(said.splitlines()) == 1


@pytest.mark.long
@pytest.mark.parametrize(("text", "reason"), [FAILING[0], FAILING[-1]])
def test_a_check_says_the_same(dogana: Dogana, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "bot.py").write_text(text)
    said = dogana("check", "bot.py", "--game", "cargo_noir", status=1).stdout
    assert reason in next(line for line in said.splitlines() if line.strip().startswith("happened:"))


@pytest.mark.parametrize(
    ("text", "clock", "outcome"),
    [
        ("from dogana.sdk import play\nplay(lambda decision: 1 // 0)\n", "60+1/60", "crash"),
        ("from dogana.sdk import play\nplay(lambda decision: 10**6)\n", "60+1/60", "illegal"),
        ("import time\nfrom dogana.sdk import play\nplay(lambda decision: time.sleep(60))\n", "0+0.1/0.1", "timeout"),
    ],
)
@pytest.mark.parametrize("series", mostly_long([((),), (("--games", 2),)]))
def test_a_match_with_a_seat_that_was_put_out_has_a_status_of_its_own(
    dogana: Dogana, tmp_path: Path, text: str, clock: str, outcome: str, series: tuple[str | int, ...]
) -> None:
    (tmp_path / "bot.py").write_text(text)
    printed = dogana(*FIRST, "bot.py", "random", "--option", "last_turn=3", "--clock", clock, *series, status=3).stdout
    assert outcome in printed
    assert ("a seat was put out in 2 of 2 matches" in printed) == bool(series)
