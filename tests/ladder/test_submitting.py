"""`dogana ladder submit` without a name; and what `top` says of those who have no place."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from ladder.commands import log, top
from ladder.commands.submit import fitted, login_name, name_of
from ladder.commands.where import Where
from ladder.intake.submission import check_names
from ladder.operation.errors import LadderError
from ladder.questions.match import BotLog
from ladder.questions.rows import StandingRow
from referee.commands.output import out
from tests.commands.conftest import Dogana
from tests.ladder.filled import filled
from tests.ladder.in_process import dogana

__all__ = ["dogana"]

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "jörg@home")


def submit(dogana: Dogana, tmp_path: Path, name: str, *options: object, status: int = 0, text: str = BOT) -> str:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    ended = dogana("ladder", "submit", name, "--home", "home", *options, status=status)
    return ended.stdout + ended.stderr


def test_a_bot_is_called_like_its_file_and_its_author_like_the_user(dogana: Dogana, tmp_path: Path) -> None:
    said = submit(dogana, tmp_path, "my bot.py")
    assert "the bot is called my-bot, its author j-rg-home; --name and --author choose others" in said
    assert "my-bot v1 by j-rg-home is in" in said
    assert "my-bot v2" in submit(dogana, tmp_path, "my bot.py", text=BOT + "\n")
    said = submit(dogana, tmp_path, "my bot.py", "--name", "other", "--author", "me")
    assert "other v1 by me is in" in said
    assert "is called" not in said


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("mybot.py", "mybot"),
        ("a/mybot.tar.gz", "mybot"),
        ("MyBot.ZIP", "MyBot"),
        ("bot.v2.jar", "bot.v2"),
        ("folder/", "folder"),
        ("-x.py", "x"),
        (".hidden", "hidden"),
        ("x" * 60 + ".js", "x" * 40),
        ("evil\x1b[2J\u202e.py", "evil-2J"),
        ("böt", "b-t"),
        ("project/target/release/bot", "project"),
        ("project/target/bot.jar", "project"),
        ("project/target/release/other", "other"),
        ("project/bot", "bot"),
        ("/target/bot", "bot"),
    ],
)
def test_a_name_is_made_to_fit(path: str, name: str) -> None:
    assert name_of(Path(path)) == name
    if name != "bot.v2":  # which reads like a version, and is refused
        check_names(name, "me")


def test_the_folder_where_one_is_gives_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine" / "in").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine" / "in")
    assert name_of(Path()) == "in"
    assert name_of(Path("..")) == "mine"


def test_where_no_name_can_be_made_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LadderError, match="choose one: --name NAME"):
        name_of(Path("ö.py"))
    for user in ("ö", KeyError("uid not found")):

        def getuser(user: object = user) -> str:
            if isinstance(user, Exception):
                raise user
            return str(user)

        monkeypatch.setattr(getpass, "getuser", getuser)
        with pytest.raises(LadderError, match="choose one: --author NAME"):
            login_name()
    assert fitted("\x00") == ""


def test_a_name_that_is_not_free_says_how_to_choose_another(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot.py", "--author", "somebody")
    said = submit(dogana, tmp_path, "mybot.py", status=1)
    assert said == (
        "dogana: bot mybot belongs to somebody, not to j-rg-home; choose another name:"
        " give --name (here mybot, from the file) or --author (here j-rg-home, your login name)\n"
    )
    assert "give --name (here greedy, from the file)" in submit(dogana, tmp_path, "greedy.py", status=1)
    said = submit(dogana, tmp_path, "mybot.py", "--name", "mybot", "--author", "me", status=1)
    assert said == "dogana: bot mybot belongs to somebody, not to me; choose another name\n"


def test_a_mistake_in_anything_but_a_name_is_not_answered_with_names(dogana: Dogana, tmp_path: Path) -> None:
    said = dogana("ladder", "submit", submitted(tmp_path), "--home", "mybot.py", status=1).stderr
    assert said == "dogana: mybot.py is a file; the home of a ladder is a folder\n"


def submitted(tmp_path: Path) -> str:
    (tmp_path / "mybot.py").write_text(BOT)
    return "mybot.py"


def test_a_new_ladder_is_reported_once(dogana: Dogana, tmp_path: Path) -> None:
    assert "new ladder in home\n" in submit(dogana, tmp_path, "mybot.py")
    assert "new ladder" not in submit(dogana, tmp_path, "mybot.py", text=BOT + "\n")
    assert "new ladder" not in dogana("ladder", "author", "add", "ann", "--home", "home").stderr
    assert dogana("ladder", "author", "add", "ann", "--home", "hoem").stderr.startswith("new ladder in hoem\n")


@pytest.mark.parametrize("option", [("--name", "a b"), ("--author", "a b"), ("--name", ""), ("--author", "")])
def test_a_name_that_was_given_and_is_wrong_is_not_answered_with_the_other(
    dogana: Dogana, tmp_path: Path, option: tuple[str, str]
) -> None:
    said = submit(dogana, tmp_path, "mybot.py", *option, status=1)
    assert f"name must be 1 to 40 letters, digits, dots, dashes and underscores, not '{option[1]}'" in said
    assert "give --" not in said


# --- top ----------------------------------------------------------------------------------------------------


def test_games_that_nobody_has_played_are_one_line_and_house_bots_do_not_wait(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot.py")
    printed = dogana("ladder", "top", "--home", "home").stdout
    assert "waits to qualify" not in printed
    [line] = printed.splitlines()
    assert line.startswith("no matches yet: Cargo Noir (60+0.5/10), ")
    of_one = dogana("ladder", "top", "venezia", "--home", "home").stdout
    assert of_one.splitlines()[:2] == ["Venezia (60+0.5/10)", "mybot v1: waits to qualify"]
    assert "greedy" not in of_one
    assert "no matches yet: Venezia" in of_one


def test_many_bots_without_a_place_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def standing(number: int, status: str, reason: str) -> StandingRow:
        return filled(
            StandingRow, game="yunnan", bot=f"bot{number}", version=1, author="a", status=status, reason=reason
        )

    alike = [standing(number, "failed", "it crashed\x1b[2J") for number in range(290)]
    apart = [standing(number, "suspended", f"reason {number}") for number in range(300, 330)]
    top.print_standings(Where(tmp_path, None), "Yunnan", [*alike, *apart])
    lines = capsys.readouterr().out.splitlines()
    every = f"`dogana ladder bots --game yunnan --home {tmp_path}`"
    assert (
        lines[1] == f"{', '.join(f'bot{n} v1' for n in range(10))} and 280 more ({every}): failed: it crashed\\x1b[2J"
    )
    assert len(lines) == 1 + top.MAX_NOTES + 2
    assert lines[-2] == f"and 21 more are not scheduled: {every}"


def test_an_option_of_a_standing_is_not_set(dogana: Dogana) -> None:
    for command in ("top", "crosstable"):
        printed = " ".join(dogana("ladder", command, "--help").stdout.split())
        assert "Only standings with this option of the game" in printed
        assert "Set an option" not in printed


def test_for_a_bot_that_printed_nothing_other_commands_are_named() -> None:
    with out.capture() as captured:
        log.explain_empty(Where(Path("h"), None), filled(BotLog, match="3f09", seat=1, bot="my v2 v3"))
        log.explain_empty(Where(Path("h"), None), filled(BotLog, match="3f09", seat=1))
    assert captured.get().splitlines() == [
        "it printed nothing, and a log has only what a bot prints; these say more:",
        "  dogana ladder replay 3f09 --as 1 --home h",
        "  dogana ladder matches 'my v2' --lost --home h",
        "  dogana ladder show 'my v2' --home h",
        "it printed nothing, and a log has only what a bot prints; these say more:",
        "  dogana ladder replay 3f09 --as 1 --home h",
    ]
