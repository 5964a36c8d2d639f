"""`dogana tournament` with what cannot be: each mistake is one line that says what to do, and nothing is lost."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ladder.operation.home import Home
from referee.bots.files import BotLimits
from referee.commands.plan_file import COMPARISON, SERIES
from referee.commands.tournament.folder import TournamentFolder
from referee.commands.tournament.players import bot_hashes
from referee.tournament.plan import MAX_MATCHES, MAY_CHANGE, TournamentError, facts, read_plan
from tests.commands.conftest import ROOT, Dogana
from tests.patience import patient
from tests.sandbox.conftest import needs_bubblewrap

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
READ_ONLY = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev")
GAME = ("--game", "cargo_noir", "-o", "last_turn=3", "--seed", 5, "--blocks", 1)


@pytest.fixture
def bots(tmp_path: Path) -> None:
    """Files and folders with bots; some are the same."""
    for name in ("bot.py", "twin.py", "one/bot.py", "two/bot.py", "three/bot.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(BOT)
    (tmp_path / "three" / "data").touch()
    (tmp_path / "hard.py").hardlink_to(tmp_path / "bot.py")
    (tmp_path / "soft.py").symlink_to("bot.py")
    (tmp_path / "other.py").write_text(f"{BOT}# other\n")


@pytest.fixture
def cup(here: Dogana, bots: None, tmp_path: Path) -> Path:
    """A tournament of three entrants, not yet played."""
    here("tournament", "new", "cup", "greedy", "random", "bot.py", *GAME)
    return tmp_path / "cup"


def edit(cup: Path, old: str, new: str) -> None:
    text = (cup / "tournament.toml").read_text()
    assert old in text
    (cup / "tournament.toml").write_text(text.replace(old, new, 1))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def begin(cup: Path) -> None:
    """Fix the plan and the bots, as a first match does."""
    place = TournamentFolder(cup)
    plan = place.plan()
    place.fix(plan, bot_hashes(plan, place.directory(plan), place.own))
    (cup / "records" / "round1-table1-cargo_noir-block1-rotation0.jsonl").write_text("{}")


def refused(here: Dogana, *words: object) -> str:
    """Give a command that is refused; return its line."""
    ended = here("tournament", *words, status=1)
    assert ended.stdout == ""
    [line] = ended.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bot.py", "one/bot.py"], "entrant bot is named twice, for bot.py and one/bot.py; give each a name of its own, in a command as NAME=PATH"),
        (["a=bot.py", "b=./bot.py"], "a and b are the same bot: bot.py and ./bot.py have the same content; leave out one"),
        (["a=bot.py", "b=bot.py"], "a and b are the same bot: bot.py; leave out one"),
        (["bot.py", "hard.py"], "bot and hard are the same bot: bot.py and hard.py have the same content; leave out one"),
        (["bot.py", "soft.py"], "soft.py is a link; name the file or folder that it leads to"),
        (["bot.py", "greedy", "twin.py"], "bot and twin are the same bot: bot.py and twin.py have the same content"),
        (["one", "three", "two/"], "one and two are the same bot: one and two/ have the same content"),
        (["a=greedy", "b=greedy"], "a and b are the same bot: greedy; leave out one"),
        (["a=cmd:./bot.py", "b=cmd:./bot.py"], "a and b are the same bot: cmd:./bot.py; leave out one"),
        (["greedy", "nosuch.py"], "entrant nosuch: there is no file or folder 'nosuch.py'; paths are seen from "),
        (["greedy", "othr.py"], "there is no file or folder 'othr.py' (did you mean other.py?)"),
        (["greedy", "gredy"], "entrant gredy: there is no house bot 'gredy' (did you mean greedy?); a seat is one of"),
        (["greedy", "a=search:secnds=1"], "entrant a: "),
        (["greedy", "remote"], "remote is remote: a remote agent joins one match, so it cannot be an entrant"),
        (["greedy"], "tables of 2 need 2 entrants, and the tournament has 1"),
        (["greedy", "random", "--seats", "3"], "tables of 3 need 3 entrants, and the tournament has 2"),
        (["greedy", "random", "--seats", "3", "--format", "swiss"], "tables of 3 need 3 entrants, and the tournament has 2"),
        (["greedy", "random", "--seats", "3", "--format", "knockout"], "tables of 3 need 3 entrants, and the tournament has 2"),
        (["greedy", "random", "--format", "gauntlet", "--seats", "4"], "a gauntlet at tables of 4 needs 3 hosts, and 2 have"),
        (["greedy", "random", "--format", "gauntlet", "--hosts", "2"], "a gauntlet needs a challenger"),
        (["greedy", "random", "-o", "last_trun=3"], "tournament.toml: cargo_noir has no option 'last_trun' (did you mean last_turn?)"),
        (["greedy", "random", "-o", "last_turn=1"], "option last_turn can be track or a number from 2 to 20, not 1"),
        (["greedy", "random", "-o", "last_turn=\u0663"], "option last_turn can be track or a number from 2 to 20, not '\u0663'"),
        (["greedy", "random", "--game", "yunan"], "tournament.toml: there is no game 'yunan' (did you mean yunnan?)"),
        (["greedy", "random", "--game", "yunnan", "-o", "last_turn=3"], "--option is for a single game"),
        (["greedy", "random", "--game", "cargo_noir"], "has a game twice with the same options"),
        (["greedy", "random", "--memory", "64"], "are for --isolate"),
        (["greedy", "random", "--clock", "soon"], "clock cannot be read: 'soon' is not a clock; write bank+increment/cap"),
        (["greedy", "random", "--clock", "0+0/0"], "clock 0+0/0 leaves no time to answer; its cap, and its bank or its"),
        (["greedy", "random", "--rounds", "3"], "--rounds is for --format swiss and --preliminary swiss"),
        (["greedy", "random", "--advance", "1"], "--advance and --preliminary are for --format knockout"),
        (["greedy", "random", "--preliminary", "swiss"], "--advance and --preliminary are for --format knockout"),
        (["greedy", "random", "--format", "knockout", "--qualify", "2"], "--qualify needs rounds before a knockout: add --preliminary"),
        (["greedy", "random", "--format", "knockout", "--preliminary", "swiss", "--qualify", "3"], "qualify = 3: from 2 to all 2 entrants"),
        (["greedy", "=random"], "'=random': an entrant's name has 1 to 40 characters that can be printed, and no space at its ends"),
        (["greedy", " =random"], "' =random': an entrant's name has"),
        (["greedy", "\x1b[31mb=random"], "'\\x1b[31mb=random': an entrant's name has"),
        (["greedy", f"{'x' * 41}=random"], "an entrant's name has 1 to 40 characters that can be printed"),
        (["greedy", f"{'x' * 41}.py"], f"an entrant's name has 1 to 40 characters that can be printed, and no space at its ends; give it one: NAME={'x' * 41}.py"),
        (["greedy", "x" * 5000], "an entrant's name has"),
        (["greedy", ""], "'': an entrant's name has"),
    ],
    ids=lambda one: " ".join(one)[:60] if isinstance(one, list) else "",
)  # fmt: skip
@pytest.mark.usefixtures("bots")
def test_a_field_that_cannot_be_is_refused_before_a_file_is_written(
    here: Dogana, tmp_path: Path, words: list[str], said: str
) -> None:
    assert said in refused(here, "new", "cup", *words, "--game", "cargo_noir")
    assert not (tmp_path / "cup").exists()


@pytest.mark.usefixtures("bots")
def test_the_folder_of_a_bot_is_not_made_that_of_a_tournament(here: Dogana, tmp_path: Path) -> None:
    said = refused(here, "new", "one", "greedy", "random", *GAME)
    assert said == "dogana: one is not empty; name a folder that is not there yet"
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["bot.py"]


@pytest.mark.usefixtures("bots")
def test_two_commands_at_the_same_moment_do_not_write_the_same_file(
    here: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, draw = tmp_path / "cup" / "tournament.toml", secrets.randbits

    def late(bits: int) -> int:
        """Draw the seed when the other command has written the file."""
        path.parent.mkdir()
        path.write_text("theirs")
        return draw(bits)

    monkeypatch.setattr(secrets, "randbits", late)
    said = refused(here, "new", "cup", "greedy", "random", "--game", "yunnan")
    assert said == "dogana: cup/tournament.toml is there already: change it, or use another folder"
    assert path.read_text() == "theirs"


@pytest.mark.usefixtures("bots")
def test_a_seed_out_of_range_is_refused(here: Dogana, tmp_path: Path) -> None:
    for seed in (-1, 2**62 + 1):
        ended = here("tournament", "new", "cup", "greedy", "random", "--game", "yunnan", "--seed", seed, status=2)
        assert "Invalid value for '--seed': must be a whole number, 0 to 4611686018427387904" in ended.stderr
    assert not (tmp_path / "cup").exists()


@pytest.mark.usefixtures("bots")
def test_names_may_have_markup_and_separators_and_do_nothing(here: Dogana, tmp_path: Path) -> None:
    names = ["<script>x", "[red]a/b", "../../up", "two words"]
    seats = ["greedy", "random", "bot.py", "other.py"]
    words = [f"{name}={seat}" for name, seat in zip(names, seats, strict=True)]
    here("tournament", "new", "cup", *words, *GAME)
    assert TournamentFolder(tmp_path / "cup").plan().names == names
    printed = here("tournament", "show", "cup").stdout
    assert all(name in printed for name in names)
    here("tournament", "page", "cup", "public")
    assert "<script" not in (tmp_path / "public" / "index.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["cup", "one", "public", "three", "two"]


def test_a_number_may_begin_with_a_zero_as_in_a_match(here: Dogana) -> None:
    here("tournament", "new", "cup", "greedy", "random", "--game", "cargo_noir", "-o", "last_turn=03")
    here("tournament", "show", "cup")


@pytest.mark.usefixtures("bots")
def test_a_bot_of_several_files_that_differ_is_another_bot(here: Dogana) -> None:
    here("tournament", "new", "cup", "one", "three", "bot.py", "other.py", *GAME)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"last_turn" = 3', '"last_trun" = 3', "cup/tournament.toml: cargo_noir has no option 'last_trun' (did you mean last_turn?)"),
        ('"last_turn" = 3', '"last_turn" = 2020-01-01', "cup/tournament.toml: option last_turn can be track or"),
        ('"last_turn" = 3', '"last_turn" = 3.0', "cup/tournament.toml: option last_turn can be track or a number from 2 to 20, not 3.0"),
        ('"cargo_noir"', '"cargo"', "cup/tournament.toml: there is no game 'cargo'"),
        ('"bot.py"', '"bto.py"', "cup/tournament.toml: entrant bot: there is no file or folder 'bto.py' (did you mean bot.py?); paths are seen from "),
        ('"bot.py"', '"a\\u0000b"', "cup/tournament.toml: entrant bot: "),
        ('"bot.py"', f'"{"x" * 5000}"', "cup/tournament.toml: entrant bot: there is no house bot 'x"),
        ('"bot.py"', '"/dev/zero"', "entrant bot: /dev/zero is neither a file nor a folder"),
        ('"bot.py"', '"/"', "entrant bot: "),
        ('"bot.py"', '"greedy"', "greedy and bot are the same bot: greedy; leave out one"),
        ('directory = ".."', 'directory = "nosuch"', "there is no folder directory = 'nosuch', seen from the file"),
        ('directory = ".."', 'directory = "a\\u0000b"', "there is no folder directory = "),
        ("[[games]]", "[gmaes]", "cup/tournament.toml has no entry 'gmaes' (did you mean games?)"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_one_line_before_the_first_match(
    here: Dogana, cup: Path, old: str, new: str, said: str
) -> None:
    edit(cup, old, new)
    before = files(cup)
    assert said in refused(here, "run", "cup")
    assert files(cup) == before


def test_equal_content_is_refused_before_the_first_match_and_is_a_change_after_it(here: Dogana, cup: Path) -> None:
    edit(cup, 'seat = "random"', 'seat = "other.py"')
    (cup.parent / "other.py").write_text(BOT)
    assert "random and bot are the same bot: other.py and bot.py have the same content" in refused(here, "run", "cup")
    (cup.parent / "other.py").write_text(f"{BOT}# other\n")
    begin(cup)
    (cup.parent / "other.py").write_text(BOT)
    assert "the files of random have changed since the first match; put them back" in refused(here, "run", "cup")


def test_a_newcomer_with_the_content_of_an_entrant_is_refused(here: Dogana, cup: Path) -> None:
    said = refused(here, "add", "cup", "twin.py")
    assert "bot and twin are the same bot: bot.py and twin.py have the same content" in said
    assert "twin" not in (cup / "tournament.toml").read_text()


@pytest.mark.parametrize(
    ("name", "what"), [(SERIES, "a series of `dogana play`"), (COMPARISON, "a comparison of `dogana compare`")]
)
def test_a_folder_of_something_else_is_refused(here: Dogana, tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / name).write_text("{}")
    for words in (
        ("new", "other", "greedy", "random", *GAME),
        ("run", "other"),
        ("show", "other"),
        ("verify", "other"),
    ):
        assert f"other has {what}; a tournament needs a folder of its own" in refused(here, *words)
    assert [path.name for path in (tmp_path / "other").iterdir()] == [name]


@pytest.mark.usefixtures("bots")
def test_the_home_of_a_ladder_is_refused(here: Dogana, tmp_path: Path) -> None:
    here("ladder", "submit", "bot.py", "--name", "bot", "--author", "me", "--home", "home")
    assert Home(tmp_path / "home").database.exists()
    before = files(tmp_path / "home")
    for words in (("new", "home", "greedy", "random", *GAME), ("run", "home"), ("add", "home", "bot.py")):
        assert "home has a ladder; a tournament needs a folder of its own" in refused(here, *words)
    assert files(tmp_path / "home") == before


def test_a_folder_without_a_tournament_or_with_another_is_refused(here: Dogana, cup: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for command in (("run",), ("show",), ("verify",), ("add", "bot.py"), ("page", "public")):
        for folder in ("nosuch", "empty", "bot.py"):
            said = refused(here, command[0], folder, *command[1:])
            assert f"there is no {folder}/tournament.toml; `dogana tournament new` writes one" in said
    assert not list((tmp_path / "empty").iterdir())
    before = files(cup)
    assert "cup/tournament.toml is there already: change it, or use another folder" in refused(
        here, "new", "cup", "greedy", "random", *GAME
    )
    assert files(cup) == before
    begin(cup)
    (cup / "tournament.toml").rename(tmp_path / "moved")
    assert "cup/records has records of another tournament; use another folder" in refused(
        here, "new", "cup", "greedy", "random", *GAME
    )


def test_a_file_that_is_no_file_of_a_tournament_is_refused(here: Dogana, cup: Path) -> None:
    path = cup / "tournament.toml"
    for content, said in (
        (b"\xff\xfe", "cup/tournament.toml is not UTF-8"),
        (b"", "cup/tournament.toml.format is missing"),
        (b"[" * 100_000, "cup/tournament.toml is not TOML"),
        (b"a." * 1_000_000 + b"a = 1", "cup/tournament.toml is not TOML: the key a.a."),
        (bytes(5_000_000), "cup/tournament.toml: has more than 4194304 bytes"),
    ):
        path.write_bytes(content)
        assert said in refused(here, "run", "cup")
    path.unlink()
    os.mkfifo(path)
    assert "cup/tournament.toml: is not a regular file" in refused(here, "run", "cup")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("round-robin", []),
        ("swiss", ["--rounds", "2"]),
        ("knockout", []),
        ("knockout", ["--preliminary", "swiss", "--rounds", "3", "--qualify", "2", "--advance", "1"]),
        ("knockout", ["--preliminary", "round-robin"]),
        ("gauntlet", ["--isolate", "--memory", "64"]),
    ],
)
def test_the_written_file_has_each_entry_of_its_format_set_or_shown(
    here: Dogana, tmp_path: Path, form: str, words: list[str]
) -> None:
    if "--isolate" in words and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap: apt-get install bubblewrap")
    here("tournament", "new", "cup", "greedy", "random", "search", "--format", form, *words, *GAME)
    text = (tmp_path / "cup" / "tournament.toml").read_text()
    plan = read_plan(text, "")
    of_others = {
        "round-robin": {"rounds", "advance", "preliminary", "qualify"},
        "swiss": {"balance", "advance", "preliminary", "qualify"},
        "gauntlet": {"balance", "rounds", "advance", "preliminary", "qualify"},
        "knockout": set(),
    }[form]
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    for key in {*facts(plan), *MAY_CHANGE} - of_others:
        assert any(line.startswith((f"{key} = ", f"[{key}]", f"[[{key}]]")) for line in lines), key
    for key in ("isolate", "memory", "tasks", "cpus", "pondering", "runtimes"):
        assert any(line.startswith(f"{key} = ") for line in lines), key
    if "--qualify" in words:
        assert (plan.preliminary.value, plan.rounds, plan.qualify, plan.advance) == ("swiss", 3, 2, 1)
        assert plan.tie_breaks[0].value == "opponents"
    if words == ["--preliminary", "round-robin"]:
        assert plan.preliminary.value == "round-robin"
    # what is shown can be set
    entries = [line for line in text.splitlines() if line.startswith("# ") and " = " in line and "  # " in line]
    for line in entries:
        key = line.removeprefix("# ").partition(" ")[0]
        if key in ("rounds", "balance", "qualify") and form == "knockout":
            continue  # only beside a preliminary that has it
        read_plan(text.replace(line, line.removeprefix("# ")), "")


def test_a_tournament_inside_the_folder_of_a_bot_is_no_part_of_the_bot(cup: Path, tmp_path: Path) -> None:
    edit(cup, '"bot.py"', '"."')
    place = TournamentFolder(cup)
    plan = place.plan()
    begin(cup)
    place.check(plan, bot_hashes(plan, tmp_path, place.own))
    (tmp_path / "bot.py").write_text(f"{BOT}#")
    with pytest.raises(TournamentError, match="the files of bot have changed"):
        place.check(plan, bot_hashes(plan, tmp_path, place.own))


@pytest.mark.usefixtures("bots")
def test_behind_a_link_a_tournament_has_the_bots_that_were_named(here: Dogana, tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "cup").symlink_to("real/deep")
    (tmp_path / "real" / "bot.py").write_text(f"{BOT}# where `..` leads from the name of the link\n")
    here("tournament", "new", "cup", "greedy", "bot.py", *GAME)
    place = TournamentFolder(tmp_path / "cup")
    assert place.directory(place.plan()).samefile(tmp_path)
    edit(tmp_path / "cup", 'directory = "../.."', 'directory = "."')
    edit(tmp_path / "cup", '"bot.py"', '"../../bot.py"')
    here("tournament", "add", "cup", "other.py")
    assert (tmp_path / "cup" / place.plan().entrants[-1].seat).samefile(tmp_path / "other.py")


def test_a_bot_inside_the_folder_of_the_tournament_is_compared(cup: Path, tmp_path: Path) -> None:
    edit(cup, '"bot.py"', '"cup/bots"')
    (cup / "bots").mkdir()
    (cup / "bots" / os.fsdecode(b"data \xff")).write_text("1")
    place = TournamentFolder(cup)
    begin(cup)
    place.check(place.plan(), bot_hashes(place.plan(), tmp_path, place.own))
    (cup / "bots" / os.fsdecode(b"data \xff")).write_text("2")
    with pytest.raises(TournamentError, match="the files of bot have changed"):
        place.check(place.plan(), bot_hashes(place.plan(), tmp_path, place.own))


def test_a_link_or_a_pipe_in_place_of_the_lock_is_refused_and_nothing_waits_for_it(
    here: Dogana, cup: Path, tmp_path: Path
) -> None:
    (tmp_path / "letter").write_text("dear ann")
    (cup / ".lock").symlink_to(tmp_path / "letter")
    assert f"{cup}/.lock: is a link where a file should be" in refused(here, "run", "cup")
    assert (tmp_path / "letter").read_text() == "dear ann"
    (cup / ".lock").unlink()
    os.mkfifo(cup / ".lock")
    assert f"{cup}/.lock: is not a regular file" in refused(here, "run", "cup")
    assert "6 matches are left; not running now" in here("tournament", "show", "cup").stdout


def test_records_in_another_folder_leave_its_files_as_they_are(cup: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (cup / "records").symlink_to(tmp_path / "disk")
    names = {"photo.999999999", "libdogana.so.6", "round1-table1-cargo_noir-block1-rotation0.jsonl"}
    for name in (*names, "round1-table1-cargo_noir-block1-rotation0.999999999"):
        (tmp_path / "disk" / name).touch()
    with TournamentFolder(cup).alone():
        pass
    assert {path.name for path in (tmp_path / "disk").iterdir()} == names


def test_a_plan_that_names_any_folder_does_not_have_verify_read_all_of_it(here: Dogana, cup: Path) -> None:
    edit(cup, '"bot.py"', '"/"')
    assert "holds  0 matches; 6 matches are left" in here("tournament", "verify", "cup").stdout
    for before, after in (("/", "one"), ("one", "bot.py")):
        edit(cup, f'seat = "{before}"', f'seat = "{after}"')
        plan = TournamentFolder(cup).plan()
        assert "bot" in bot_hashes(plan, cup.parent, [], BotLimits(size=len(BOT)))
        assert "bot" not in bot_hashes(plan, cup.parent, [], BotLimits(size=len(BOT) - 1))


def test_the_table_of_the_largest_tournament_can_be_read_again(tmp_path: Path) -> None:
    place, written = TournamentFolder(tmp_path), {}
    sizes = []
    for number in (1, 2):
        written[f"round1-table10000{number}-cargo_noir-block1-rotation0"] = "0" * 64
        place.write_result({"records": written})
        sizes.append(place.result.stat().st_size)
    with place.result.open("a") as file:
        file.write("\n" * (sizes[1] - sizes[0]) * MAX_MATCHES)  # in place of as many records
    assert place.read_result() == {"records": written}


def test_a_change_to_a_value_that_json_has_not_is_named(here: Dogana, cup: Path) -> None:
    begin(cup)
    edit(cup, '"last_turn" = 3', '"last_turn" = 2020-01-01')
    assert "games has changed since the first match" in refused(here, "verify", "cup")


@pytest.mark.parametrize("most", [0, 100, 5000])
def test_a_folder_that_is_full_is_named_and_the_tournament_goes_on_later(
    dogana: Dogana, cup: Path, tmp_path: Path, most: int
) -> None:
    ended = dogana("tournament", "run", "cup", "--workers", 1, status=1, max_bytes=most)
    assert f"{tmp_path}/cup/" in ended.stderr
    assert "File too large" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert dogana("tournament", "run", "cup", "--json").stdout.count('"event": "match"') == 6
    assert sorted({path.suffix for path in (cup / "records").iterdir()}) == [".jsonl"]


@needs_bubblewrap
def test_a_folder_in_which_nothing_can_be_written_is_named(cup: Path, tmp_path: Path) -> None:
    def read_only(*words: object) -> str:
        ended = subprocess.run(
            [*READ_ONLY, sys.executable, "-m", "ladder", "tournament", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=patient(120),
            check=False,
        )
        assert ended.returncode == 1
        return ended.stderr

    read_only_said = "nothing can be written there: the file system is read-only"
    before = files(cup)
    assert read_only("run", "cup") == f"dogana: {cup}/.lock: {read_only_said}\n"
    assert read_only("new", "other", "greedy", "random", *GAME) == f"dogana: other: {read_only_said}\n"
    assert read_only("add", "cup", "other.py") == f"dogana: {cup}/.lock: {read_only_said}\n"
    assert files(cup) == before
