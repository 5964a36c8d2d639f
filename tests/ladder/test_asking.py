"""What people ask a ladder: from a match that was lost to the decision, and to what the bot wrote."""

from __future__ import annotations

import csv
import inspect
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ladder.archive.archive import LOGS
from ladder.archive.export import cell_of
from ladder.archive.faults import read_account
from ladder.archive.recompute import compare
from ladder.commands.ladder_replay import ladder_replay
from ladder.commands.replay import look_at, replay
from ladder.facts import standings
from ladder.facts.history import PlayedMatch
from ladder.facts.standings import SUSPENDED_AFTER, scheduled, to_qualify
from ladder.facts.store import Store
from ladder.model.match import Match
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.play.qualifying import enter_house_bots
from ladder.play.running import count
from ladder.questions.bots import ShowRequest
from ladder.questions.caller import ANYBODY, ORGANISER, Caller
from ladder.questions.desk import Desk
from ladder.questions.matches import MatchesRequest
from referee.games.cargo_noir.actions import Stake
from referee.match.result import Fault, Outcome
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana
from tests.commands.conftest import dogana as dogana_process
from tests.commands.test_hostile_text import check
from tests.ladder.archived import change_record, damage, put_logs, record_file, record_of, remove_record
from tests.ladder.in_process import dogana
from tests.ladder.made import CONDITION, GAME, ladder, next_matches, result_of
from tests.ladder.real_ladder import FAULTY, LONG, LOUD, play_really, played_ladder
from tests.patience import patient
from tests.tables import cargo_noir

__all__ = ["dogana", "dogana_process"]

PLAYED = 30
PAGE = 4


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A ladder that no test changes."""
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", PLAYED)


@pytest.fixture
def home(shared_home: Home, tmp_path: Path) -> Home:
    """A ladder that a test may change."""
    return Home(shutil.copytree(shared_home.folder, tmp_path / "home"))


Ask = Callable[..., Any]


@pytest.fixture
def ask(dogana: Dogana, shared_home: Home) -> Ask:
    """Runs `dogana ladder ... --json`; returns what it says."""
    return lambda *words: json.loads(dogana("ladder", *words, "--home", shared_home.folder, "--json").stdout)


@pytest.fixture
def output(dogana: Dogana, shared_home: Home) -> Callable[..., str]:
    """Runs `dogana ladder ...`; returns what it prints, which is safe to print."""

    def run(*words: object, status: int = 0, home: Home = shared_home) -> str:
        ended = dogana("ladder", *words, "--home", home.folder, status=status)
        check(ended.stdout + ended.stderr)
        return ended.stdout + ended.stderr

    return run


def at_80(home: Home, *words: object) -> list[str]:
    """The lines that `dogana ladder ...` shows on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ladder", "ladder", *map(str, words), "--home", "home"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, cwd=home.folder.parent, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        read = b""
        try:
            while data := os.read(ours, 65536):
                read += data
        except OSError:  # Linux says so when the other side is closed
            pass
    os.close(ours)
    assert process.returncode == 0, read
    return re.sub(r"\x1b\[[0-9;]*m", "", read.decode()).replace("\r\n", "\n").splitlines()


def all_matches(home: Home) -> list[PlayedMatch]:
    with Store(home.database, create=False) as store:
        return list(store.history.all_played())


# --- matches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], lambda match: True),
        ([FAULTY], lambda match: place(match, FAULTY) > 0),
        ([f"{FAULTY} v1"], lambda match: place(match, FAULTY) > 0),
        (["best", "--lost"], lambda match: place(match, "best") > 1),
        (["best", "--out"], lambda match: False),
        ([FAULTY, "--out", "--lost"], lambda match: place(match, FAULTY) > 1),
        (["--out"], lambda match: place(match, FAULTY) > 0),
        (["--game", GAME.name], lambda match: True),
        (["--game", "yunnan"], lambda match: False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_matches_are_listed_newest_first_and_page_by_page(
    ask: Ask, shared_home: Home, words: list[str], wanted: Callable[[PlayedMatch], bool]
) -> None:
    expected = [match.match_id for match in reversed(all_matches(shared_home)) if wanted(match)]
    first = ask("matches", *words, "--limit", PAGE)
    listed = [match["match"] for match in first["matches"]]
    assert listed == expected[:PAGE]
    if first["before"] is None:
        assert len(expected) <= PAGE
        return
    rest = ask("matches", *words, "--limit", 1000, "--before", first["before"])
    assert listed + [match["match"] for match in rest["matches"]] == expected
    assert rest["before"] is None


def place(match: PlayedMatch, bot: str) -> int:
    """Where a bot came in; 0 if it was not there."""
    return next((seat.rank for seat in match.seats if seat.version.bot == bot), 0)


def test_the_expected_matches_are_some_but_not_all(shared_home: Home) -> None:
    places = [place(match, FAULTY) for match in all_matches(shared_home)]
    assert PAGE < sum(map(bool, places)) < len(places) == PLAYED
    assert {1, 2} <= {place(match, "best") for match in all_matches(shared_home)}


def test_lost_needs_a_bot(output: Callable[..., str]) -> None:
    assert "needs a bot" in output("matches", "--lost", status=2)


# --- from the lost match to the decision and the log --------------------------------------------------------


def test_two_commands_lead_from_out_in_the_standings_to_the_lost_decision_and_to_the_log(
    output: Callable[..., str], ask: Ask
) -> None:
    listed = output("matches", FAULTY, "--out", "--limit", 1)
    match_id = ask("matches", FAULTY, "--out", "--limit", 1)["matches"][0]["match"]
    assert match_id in listed
    printed = output("match", match_id[:10])
    assert "was put out after" in printed
    assert r"it gave no answer: crash" not in printed  # it did: two answers, which were refused
    assert printed.count("its answer was refused: index 99999 is not in the list") == 2
    log = output("log", match_id, ask("match", match_id)["lost_decisions"][0]["seat"])
    assert r"last \x1b[2J\u202e line" in log
    assert "first line" not in log  # only the end of it


@pytest.mark.long
def test_each_match_has_reasons_for_its_ratings_or_is_in_the_first_rated_block_of_a_bot(
    output: Callable[..., str], ask: Ask
) -> None:
    kinds = set()
    for match in ask("matches", "--limit", 1000)["matches"]:
        found, printed = ask("match", match["match"]), output("match", match["match"])
        newcomers = [seat for seat in match["seats"] if seat["block_change"] is None]
        assert bool(found["reasons"]) == ("the ratings before predicted" in printed) == (not newcomers)
        for seat in newcomers:
            assert "it is the first rated block of " in printed
            assert f"{seat['bot']} v{seat['version']} (seat {seat['seat']})" in printed
        kinds.add(bool(newcomers))
    assert kinds == {True, False}


def test_the_lost_decision_is_the_one_that_replay_shows(
    ask: Ask, dogana: Dogana, shared_home: Home, tmp_path: Path
) -> None:
    match_id = ask("matches", FAULTY, "--out", "--limit", 1)["matches"][0]["match"]
    found = ask("match", match_id)
    [lost] = found["lost_decisions"]
    assert lost["fault"] == f"crash: =crashed {LOUD}"
    assert [(blame["is_out"], blame["reason"]) for blame in found["blames"]] == [
        (False, "illegal"),
        (False, "illegal"),
        (True, "crash"),
    ]
    assert found["moment"] == f"{match_id}.html#s={lost['at']}"  # the page has no seats' views while the seed is sealed
    record = record_file(shared_home, found["match"], tmp_path)
    replayed = dogana("replay", record, "--at", lost["at"], "--as", lost["seat"]).stdout
    for line in lost["observation"]:
        assert f"  {line}\n" in replayed
    assert f"seat {lost['seat']} is to act: {', '.join(lost['legal'])}\n" in replayed


def test_the_table_of_matches_marks_those_that_are_not_rated(output: Callable[..., str], tmp_path: Path) -> None:
    with ladder(tmp_path, bots=2) as store:
        for number in range(8):
            for match in next_matches(store, number):
                count(store, match, result_of(match, [1, 2], digest=str(min(number, 2))), "hash")
    listed = Desk(Home(tmp_path)).ask(MatchesRequest(limit=1000)).matches
    printed = output("matches", "--limit", 1000, home=Home(tmp_path))
    marks = re.findall(r"not rated\s+played before", printed)
    assert 0 < len(marks) == sum(not match.rated for match in listed) < len(listed)


def explained(dogana: Dogana, ask: Ask, home: Home) -> tuple[str, list[str]]:
    """A match in which a bot was put out, and the lines about it."""
    match_id = ask("matches", FAULTY, "--limit", 1)["matches"][0]["match"]
    return match_id, dogana("ladder", "match", match_id, "--home", home.folder).stdout.splitlines()


def commands_in(lines: list[str]) -> list[list[str]]:
    return [line.split()[1:] for line in lines if line.startswith("  dogana ")]


def test_every_command_that_a_match_names_can_be_run(dogana: Dogana, ask: Ask, shared_home: Home) -> None:
    match_id, lines = explained(dogana, ask, shared_home)
    commands = commands_in(lines)
    assert {tuple(words[:2]) for words in commands} == {("ladder", "log"), ("ladder", "replay")}
    assert ["--html", f"{match_id}.html"] in [words[3:5] for words in commands]
    assert ["--bot", "PATH"] in [words[5:7] for words in commands]
    assert lines[-1].startswith(f"and look at {match_id}.html#s=")
    for words in commands:
        if "--html" not in words and "--bot" not in words:  # a page takes long, and has tests of its own
            assert dogana(*words).stdout


@pytest.mark.long
def test_a_match_names_the_command_that_asks_a_changed_bot_again(
    dogana: Dogana, ask: Ask, shared_home: Home, tmp_path: Path
) -> None:
    match_id, lines = explained(dogana, ask, shared_home)
    again = [words for words in commands_in(lines) if "--bot" in words]
    assert again[0][5:7] == ["--bot", "PATH"]
    (tmp_path / "first.py").write_text("from dogana.sdk import play\nplay(lambda decision: 0)\n")
    bot = f"cmd:{sys.executable} {tmp_path / 'first.py'}"
    # In a process of its own: it makes itself the parent of what bots leave behind, and kills whatever it did not start.
    command = [sys.executable, "-m", "ladder", *again[0][:6], bot, *again[0][7:], "--unconfined"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(120), check=False)
    assert ended.returncode == 1
    assert "decisions the same; first other answer at step " in ended.stdout
    look = shlex.split(ended.stdout.splitlines()[-1].partition(": dogana ")[2])
    assert look[:3] == ["ladder", "replay", match_id]
    assert " after " in dogana(*look).stdout


@pytest.mark.long
def test_a_match_of_the_ladder_is_replayed_by_the_beginning_of_its_id(
    dogana: Dogana, ask: Ask, shared_home: Home, tmp_path: Path
) -> None:
    match_id = ask("matches", "--limit", 1)["matches"][0]["match"]
    record = record_file(shared_home, match_id, tmp_path)
    short = ("ladder", "replay", match_id[:10], "--home", shared_home.folder)
    for options in ((), ("--as", 1), ("--at", 3), ("--json",)):
        printed = dogana(*short, *options).stdout
        assert printed == dogana("replay", record, *options).stdout
        assert len(printed.splitlines()) > 3 or "--at" in options
    dogana(*short, "--svg", tmp_path / "pictures", "--as", 0)
    dogana("replay", record, "--svg", tmp_path / "others", "--as", 0)
    pictures = {path.name: path.read_text() for path in (tmp_path / "pictures").iterdir()}
    assert pictures == {path.name: path.read_text() for path in (tmp_path / "others").iterdir()}
    assert "no match" in dogana("ladder", "replay", "zz\x1b[2J", "--home", shared_home.folder, status=1).stderr
    assert "--bot needs --as SEAT" in dogana(*short, "--bot", "bot.py", status=1).stderr


def test_what_is_wrong_with_a_replay_is_said_of_the_match_and_not_of_a_temporary_file(
    output: Callable[..., str], shared_home: Home
) -> None:
    match = all_matches(shared_home)[0].match_id
    said = output("replay", match, "--at", 99_999, status=1)
    assert said.startswith(f"dogana: {match}.jsonl")
    assert "not 99999" in said


def test_both_ways_to_replay_have_the_same_options() -> None:
    options = inspect.signature(replay).parameters.keys() - {"file"}
    assert inspect.signature(ladder_replay).parameters.keys() == options | {"match", "home", "server"}
    assert inspect.signature(look_at).parameters.keys() == options - {"context"} | {"command", "file", "hold"}


def test_times_of_a_match_are_those_of_its_record(shared_home: Home) -> None:
    account = read_account(shared_home.archive, record_of(shared_home, all_matches(shared_home)[0].match_id))
    lines = [line for line in _lines(shared_home) if "ms" in line]
    for seat, longest in account.longest.items():
        charged = [line["ms"] for line in lines if line["seat"] == seat]
        assert min(charged) < max(charged) == pytest.approx(longest.seconds * 1000)


def test_a_refused_answer_is_reported_with_the_rule_that_it_broke(tmp_path: Path) -> None:
    table = cargo_noir()
    table.answer(0, [Stake(2)])
    table.fault(0, Fault(Outcome.CRASH, "x"))
    table.play_out()
    path = table.record(tmp_path / "match.jsonl")
    [lost] = read_account(path, path.read_bytes()).lost
    [refused] = lost.refused
    assert re.fullmatch(r"stake\(2\) is not legal: .* \(C6\.3\)", refused)


def _lines(home: Home) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record_of(home, all_matches(home)[0].match_id).splitlines()]


def test_a_record_that_is_gone_or_damaged_is_reported_and_the_rest_is_shown(
    home: Home, output: Callable[..., str]
) -> None:
    match = all_matches(home)[0]
    change_record(home, match.match_id, lambda lines: lines[-1].update(digest="another"))
    printed = output("match", match.match_id, home=home, status=1)
    assert "digest" in printed
    assert match.seats[0].version.label in printed
    damage(home, match.match_id)
    assert "is damaged" in output("match", match.match_id, home=home, status=1)
    remove_record(home, match.match_id)
    assert "there is no such record" in output("match", match.match_id, home=home, status=1)


def test_what_a_match_that_does_not_count_yet_or_never_will_is_called(home: Home, output: Callable[..., str]) -> None:
    with Store(home.database, create=False) as store:
        match = store.schedule.unfinished(CONDITION)[0]
        assert "does not count yet" in output("match", match.match_id, home=home)
        store.results.give_up(match, f"broken {LOUD}")
    printed = output("match", match.match_id, home=home)
    assert "is given up" in printed
    assert printed.count(r"void: broken \x1b[2J\u202e") == 3
    assert "does not count, so it has no place" in output("matches", "--before", match.match_id, home=home, status=1)


def test_a_beginning_that_fits_several_matches_or_none_is_reported(home: Home, output: Callable[..., str]) -> None:
    with Store(home.database, create=False) as store:
        while len({match.match_id[0] for match in store.schedule.unfinished(CONDITION)}) == len(
            store.schedule.unfinished(CONDITION)
        ):
            next_matches(store)
        ids = sorted(match.match_id for match in store.schedule.unfinished(CONDITION))
    beginning = next(one[0] for one, other in pairwise(ids) if one[0] == other[0])
    assert "give more of the id" in output("match", beginning, home=home, status=1)
    for wrong in ("zz", "..", "../..", "*", "**", "\0", "a/b"):
        assert "no match has an id that begins with" in output("match", wrong, home=home, status=1)


# --- logs ---------------------------------------------------------------------------------------------------


def test_the_log_of_a_bot_is_that_of_its_last_match(ask: Ask, shared_home: Home) -> None:
    last = next(match for match in reversed(all_matches(shared_home)) if place(match, "best"))
    [log] = ask("log", "best")
    seat = next(seat.seat for seat in last.seats if seat.version.bot == "best")
    assert (log["match"], log["seat"], log["bot"]) == (last.match_id, seat, "best v1")
    assert (len(log["lines"]), log["lines_left_out"]) == (40, 22)
    [whole] = ask("log", "best v1", "--all")
    assert (whole["lines"][0], len(whole["lines"])) == (f"first line of seat {seat}", 62)
    [short] = ask("log", "best", "--tail", 1)
    assert short["lines"] == [f"last {LOUD} line of seat {seat}"]


def test_the_logs_of_a_match_are_shown_for_every_seat(ask: Ask, shared_home: Home) -> None:
    match = all_matches(shared_home)[-1]
    logs = ask("log", match.match_id)
    assert [(log["seat"], log["bot"]) for log in logs] == [
        (seat, one.version.label) for seat, one in enumerate(match.seats)
    ]


def test_what_is_neither_a_match_nor_a_bot_has_no_log_and_a_bot_has_no_seat(output: Callable[..., str]) -> None:
    printed = output("log", "nobody", status=1)
    assert printed.startswith("dogana: there is no bot 'nobody', and no match has an id that begins with 'nobody'")
    assert "best is a bot, and only matches have seats" in output("log", "best", 1, status=1)


def test_a_bot_without_such_matches_is_looked_up_by_the_next_command(dogana: Dogana, home: Home) -> None:
    with Store(home.database, create=False) as store:
        store.roster.add_version("untried", "fay", "hash", ["./bot"], [GAME.name])
    said = dogana("ladder", "matches", "untried", "--lost", "--home", home.folder).stdout
    command = said.removeprefix("no matches; how untried stands: dogana ").strip()
    assert "waits to qualify" in dogana(*shlex.split(command)).stdout


def test_a_log_line_without_end_is_cut_unless_all_is_asked_for(home: Home, output: Callable[..., str]) -> None:
    match = all_matches(home)[0]
    put_logs(home, match.match_id, {"seat0.log": b"x" * 100_000})
    assert len(output("log", match.match_id, 0, home=home)) < 1_000
    assert len(output("log", match.match_id, 0, "--all", home=home)) > 100_000


def test_a_log_that_is_damaged_is_reported_and_one_that_is_missing(home: Home, output: Callable[..., str]) -> None:
    match = all_matches(home)[0]
    damage(home, match.match_id, LOGS)
    assert "is damaged" in output("log", match.match_id, 0, home=home, status=1)
    put_logs(home, match.match_id, {"seat1.log": b"x"})
    assert "has no log in seat 0: house bots write none" in output("log", match.match_id, 0, home=home, status=1)


def test_the_match_in_which_a_bot_failed_to_qualify_is_shown_with_its_log(
    home: Home, output: Callable[..., str]
) -> None:
    with Store(home.database, create=False) as store:
        version, _ = store.roster.add_version("newcomer", "fay", "hash", ["./bot"], [GAME.name])
        random_bot = store.roster.find_versions("good")[0]
        assert "newcomer has no log" in output("log", "newcomer", home=home, status=1)
        match = Match(f"qualify-{version.id}-0123", None, CONDITION, (version, random_bot), 1)
        play_really(home, store, match, {0: Fault(Outcome.CRASH, "it crashed")})
        store.admission.qualify(version.id, CONDITION, passed=False, reason="crash: it crashed")
    assert "match qualify-" in output("log", "newcomer", home=home)
    printed = output("match", match.match_id, home=home)
    assert "does not count: it was to qualify a version" in printed
    assert "seat 0, newcomer v1, was put out after" in printed


def test_what_a_bot_wrote_when_it_did_not_qualify_is_shown_to_its_author_and_the_organiser_alone(home: Home) -> None:
    text = 'Traceback (most recent call last):\n  File "/bot/bot.py", line 7, in choose\n    1 / 0\nZeroDivisionError: oh\n'
    with Store(home.database, create=False) as store:
        version, _ = store.roster.add_version("newcomer", "fay", "hash", ["./bot"], [GAME.name])
        store.admission.qualify(version.id, CONDITION, passed=False, reason="crash: exited with status 1")
    put_logs(home, f"qualify-{version.id}-0123", {"seat0.log": text.encode()})

    def reasons(caller: Caller) -> str:
        found = Desk(home, caller).ask(ShowRequest(bot="newcomer"))
        return " ".join(one.reason for one in found.versions[0].standings)

    whole = "crash: exited with status 1; /bot/bot.py, line 7: ZeroDivisionError: oh, in: 1 / 0"
    assert whole in reasons(ORGANISER)
    assert whole in reasons(Caller("fay"))
    for caller in (ANYBODY, Caller("somebody")):
        assert "crash: exited with status 1" in reasons(caller)
        assert "ZeroDivisionError" not in reasons(caller)


def test_a_bot_that_did_not_qualify_has_a_log_and_no_matches(home: Home, output: Callable[..., str]) -> None:
    with Store(home.database, create=False) as store:
        version, _ = store.roster.add_version("newcomer", "fay", "hash", ["./bot"], [GAME.name])
        waiting = output("show", "newcomer", home=home)
        assert "dogana ladder log" not in waiting
        assert "dogana ladder matches" not in waiting
        store.admission.qualify(version.id, CONDITION, passed=False, reason="timeout: no time left")
    printed = output("show", "newcomer", home=home)
    assert "its log:      dogana ladder log newcomer" in printed
    assert "dogana ladder matches" not in printed
    assert "its matches:  dogana ladder matches good" in output("show", "good", home=home)
    top = output("top", "cargo_noir", home=home)
    assert "newcomer v1: not qualified: timeout: no time left" in top
    assert "why, for its author and the organiser: dogana ladder show" in top


# --- hints --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["show", "zzz"], "there is no bot 'zzz'; see dogana ladder bots --home home"),
        (["prune", "--records-older-than", "9d", "--keep-bot", "zzz"], "see dogana ladder bots --home home"),
        (["matches", "--before", "zzz"], "begins with 'zzz'; see dogana ladder matches --home home"),
        (["log", "zzz"], "begins with 'zzz'; see dogana ladder matches --home home"),
        (["event", "show", "zzz"], "there is no event 'zzz'; see dogana ladder event list --home home"),
        (["author", "token", "zzz"], "there is no author 'zzz'; see dogana ladder author list --home home"),
        (["author", "quota", "zzz", "2G"], "there is no author 'zzz'; see dogana ladder author list --home home"),
        (["author", "add", "Carl"], "carl already; for another token: dogana ladder author token carl --home home"),
    ],
    ids=str,
)
def test_a_command_that_helps_is_for_the_same_ladder(dogana: Dogana, words: list[str], hint: str) -> None:
    dogana("ladder", "author", "add", "carl", "--home", "home")
    assert dogana("ladder", *words, "--home", "home", status=1).stderr.endswith(f"{hint}\n")


# --- bots ---------------------------------------------------------------------------------------------------


def test_bots_are_listed_with_author_status_and_skill(ask: Ask, output: Callable[..., str]) -> None:
    listed = {entry["bot"]: entry for entry in ask("bots")}
    assert list(listed) == sorted(listed)
    assert listed[FAULTY]["author"] == "ann"
    [faulty], [best] = listed[FAULTY]["standings"], listed["best"]["standings"]
    assert (faulty["game"], faulty["clock"], faulty["status"]) == (GAME.name, CONDITION.clock, "suspended")
    assert best["status"] == ""
    assert best["low"] > faulty["low"]
    assert "active" in output("bots")
    assert "there is no game 'chess'" in output("bots", "--game", "chess", status=1)


def test_a_search_for_a_bot_that_finds_none_says_so(ask: Ask, output: Callable[..., str]) -> None:
    assert output("bots", "zzz") == "no bot has 'zzz' in its name or author\n"
    assert ask("bots", "zzz") == []


@pytest.mark.parametrize(
    ("command", "word"), [("matches", "fault"), ("show", "Faulty v2"), ("retire", "fault"), ("requalify", "Faulty v2")]
)
def test_a_bot_that_is_not_there_is_answered_with_those_that_are_called_alike(
    output: Callable[..., str], command: str, word: str
) -> None:
    printed = output(command, word, status=1)
    assert f"there is no bot '{word}'; did you mean 'faulty" in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [["match", "--home", "home"], ["show", "--server", "http://127.0.0.1:1"], ["author", "quota", "--home", "home"]],
)
def test_a_name_that_is_not_utf_8_is_refused_in_one_line(dogana: Dogana, home: Home, words: list[str]) -> None:
    more = ["5"] if "quota" in words else []
    ended = dogana("ladder", *words, os.fsdecode(b"my\xff"), *more, status=1)
    assert ended.stderr == "dogana: 'my\\udcff' on the command line is not UTF-8; write it in UTF-8\n"


def test_a_bot_is_shown_with_its_rating_after_each_block_its_faults_and_whom_it_has_met(
    ask: Ask, shared_home: Home
) -> None:
    matches = all_matches(shared_home)
    found = ask("show", "best")
    [fared] = found["fared"]
    own = [match for match in matches if place(match, "best")]
    stands = fared["standing"]
    assert (stands["matches"], stands["wins"]) == (len(own), sum(place(match, "best") == 1 for match in own))
    assert [entry["block"] for entry in fared["blocks"]] == sorted({match.block for match in own})
    assert fared["blocks"][-1]["mu"] == stands["mu"]
    met = {entry["bot"]: entry for entry in fared["met"]}
    for other in ("good", FAULTY):
        both = [match for match in own if place(match, other)]
        assert met[other]["matches"] == len(both)
        assert met[other]["ahead"] == sum(place(match, "best") < place(match, other) for match in both)
        assert met[other]["tied"] == sum(place(match, "best") == place(match, other) for match in both)
    assert [entry["matches"] for entry in fared["met"]] == sorted(
        (entry["matches"] for entry in fared["met"]), reverse=True
    )
    [faulty] = ask("show", FAULTY)["fared"]
    assert faulty["faults"] == {"crash": faulty["standing"]["out"]}
    assert faulty["standing"]["status"] == "suspended"


def test_the_versions_of_a_bot_are_shown_and_an_older_one_can_be_asked_for(home: Home, dogana: Dogana) -> None:
    with Store(home.database, create=False) as store:
        store.roster.add_version("best", "eve", "another hash", ["./bot"], [GAME.name])
    found = json.loads(dogana("ladder", "show", "best", "--home", home.folder, "--json").stdout)
    assert [(one["version"], one["standings"][0]["status"]) for one in found["versions"]] == [
        (1, ""),
        (2, "waits to qualify"),
    ]
    assert found["fared"] == []  # the newest has not played
    older = json.loads(dogana("ladder", "show", "best v1", "--home", home.folder, "--json").stdout)
    assert older["fared"][0]["standing"]["matches"] > 0


# --- second chances -----------------------------------------------------------------------------------------


def statuses(home: Home) -> dict[str, str]:
    with Store(home.database, create=False) as store:
        return {one.version.label: one.status.value for one in standings.statuses(store, CONDITION)}


def agrees(home: Home) -> bool:
    with Store(home.database, create=False) as store:
        return compare(home, store).differences.reported == []


def test_a_suspended_bot_gets_a_second_chance_and_is_suspended_again_only_by_new_faults(
    home: Home, output: Callable[..., str]
) -> None:
    assert statuses(home)["faulty v1"] == "suspended"
    assert "faulty v1 tries again to qualify for cargo_noir (60+0.5/10)" in output("requalify", FAULTY, home=home)
    assert statuses(home)["faulty v1"] == "waits to qualify"
    assert agrees(home)
    with Store(home.database, create=False) as store:
        [faulty] = store.roster.find_versions(FAULTY)
        assert to_qualify(store, CONDITION) == [faulty]
        store.admission.qualify(faulty.id, CONDITION, passed=True, reason="")
        assert faulty in scheduled(store, CONDITION)
        faults = 0
        while statuses(home)["faulty v1"] == "":
            for match in next_matches(store, faults):
                outs = frozenset(seat for seat, version in enumerate(match.seats) if version == faulty)
                ranks = [1 + (seat in outs) for seat in range(len(match.seats))]
                count(store, match, result_of(match, ranks, outs=outs), "hash")
                faults += bool(outs)
                assert (statuses(home)["faulty v1"] == "suspended") == (faults >= SUSPENDED_AFTER)
    assert agrees(home)


def test_a_bot_that_failed_to_qualify_tries_again(home: Home, output: Callable[..., str]) -> None:
    with Store(home.database, create=False) as store:
        failed, _ = store.roster.add_version("failed", "fay", "hash", ["./bot"], [GAME.name])
        for attempt in ("first", "second"):
            store.admission.qualify(failed.id, CONDITION, passed=False, reason=f"crash: {attempt}")
            assert f"not qualified: crash: {attempt}" in output("show", "failed", home=home)
            assert "failed v1 tries again" in output("requalify", "failed", home=home)
            assert to_qualify(store, CONDITION) == [failed]
            assert "needs no second chance" in output("requalify", "failed", home=home, status=1)
        store.admission.qualify(failed.id, CONDITION, passed=True, reason="")
        assert failed in scheduled(store, CONDITION)


def test_a_bot_that_was_found_to_kill_its_workers_is_pardoned_and_qualifies_again(
    home: Home, output: Callable[..., str]
) -> None:
    with Store(home.database, create=False) as store:
        [best] = store.roster.find_versions("best")
        for _ in range(2):
            store.admission.note_trial(all_matches(home)[0].match_id, best.id, guilty=True)
            assert statuses(home)["best v1"] == "suspended"
            assert "best v1 tries again to qualify" in output("requalify", "best", home=home)
            assert store.admission.guilty() == set()
            assert to_qualify(store, CONDITION) == [best]
    assert agrees(home)


def test_a_retired_bot_is_scheduled_no_more_until_it_is_brought_back(home: Home, output: Callable[..., str]) -> None:
    before = statuses(home)
    assert "retired: best v1" in output("retire", "best", home=home)
    output("retire", "best", home=home)  # again changes nothing
    assert statuses(home) == {**before, "best v1": "retired"}
    assert agrees(home)
    with Store(home.database, create=False) as store:
        assert "best" not in {version.bot for version in scheduled(store, CONDITION)}
        newer, _ = store.roster.add_version("best", "eve", "another hash", ["./bot"], [GAME.name])
        assert to_qualify(store, CONDITION) == [newer]
    assert "best v1 is back" in output("requalify", "best v1", home=home)
    assert statuses(home) == {**before, "best v2": "waits to qualify"}


def test_when_only_the_newest_version_is_retired_the_one_before_it_plays_again(
    home: Home, output: Callable[..., str]
) -> None:
    with Store(home.database, create=False) as store:
        newer, _ = store.roster.add_version("best", "eve", "another hash", ["./bot"], [GAME.name])
        store.admission.qualify(newer.id, CONDITION, passed=True, reason="")
    assert statuses(home)["best v1"] == "replaced"
    output("retire", "best v2", home=home)
    assert (statuses(home)["best v1"], statuses(home)["best v2"]) == ("", "retired")


def test_house_bots_cannot_be_retired(home: Home, output: Callable[..., str]) -> None:
    with Store(home.database, create=False) as store:
        enter_house_bots(store, CONDITION)
    assert "greedy is a house bot" in output("retire", "greedy", home=home, status=1)


def test_who_submits_again_what_was_stopped_is_told_what_to_do(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text("1 // 0\n")
    submit = ("ladder", "submit", "mybot.py", "--name", "mybot", "--author", "me", "--home", "home")
    dogana(*submit)
    assert dogana(*submit).stdout == "nothing new: these files are already mybot v1\n"
    with Store(tmp_path / "home" / "ladder.db", create=False) as store:
        condition = store.roster.condition(GAME.name, {}, "60+0.5/10")
        store.admission.qualify(1, condition, passed=False, reason="start: exited with status 1")
    printed = dogana(*submit).stdout
    assert "mybot v1 is not qualified for cargo_noir (60+0.5/10): start: exited with status 1" in printed
    [command] = [line for line in printed.splitlines() if line.startswith("to try again: ")]
    assert command.endswith("dogana ladder requalify 'mybot v1' --home home")
    dogana(*shlex.split(command.removeprefix("to try again: dogana ")))
    assert dogana(*submit).stdout == "nothing new: these files are already mybot v1\n"


def test_two_that_have_played_but_not_met_are_compared_without_results(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    tables = []
    with ladder(tmp_path / "home") as store:
        for _ in range(2):
            matches = next_matches(store)
            tables.append(set(matches[0].labels))
            for match in matches:
                count(store, match, result_of(match, range(1, len(match.seats) + 1)), "")
    one, other = min(tables[0] - tables[1]), min(tables[1] - tables[0])
    printed = dogana("ladder", "compare", one, other, "--home", "home").stdout
    assert printed.splitlines()[-1] == f"{one} and {other} have not met"


# --- 80 columns, names of strangers -------------------------------------------------------------------------


COMMANDS = [
    ["top"],
    ["bots"],
    ["matches"],
    ["matches", LONG],
    ["show", LONG],
    ["show", "best"],
    ["compare", LONG, "best"],
    ["crosstable", "cargo_noir"],
]


@pytest.mark.parametrize("words", mostly_long(COMMANDS), ids=lambda words: " ".join(words[:2]))
def test_tables_can_be_read_at_80_columns(home: Home, words: list[str]) -> None:
    with Store(home.database, create=False) as store:
        store.file.write("update bots set author = ? where name = ?", [LOUD + LONG, LONG])
        failed, _ = store.roster.add_version("failed", "fay", "hash", ["./bot"], [GAME.name])
        store.admission.qualify(failed.id, CONDITION, passed=False, reason=f"crash: {LOUD}{'words ' * 30}")
        store.file.write(
            "update conditions set options = ?", [json.dumps({"last_turn": 9, "option" * 9: f"{LOUD}words" * 9})]
        )
    lines = at_80(home, *words)
    check("\n".join(lines))
    parts = re.split(r"\n\s*\n", "\n".join(lines))
    tables = [part for part in parts if "───" in part]  # the rest is text, which the terminal wraps
    assert tables
    assert all(len(line) <= 80 for part in tables for line in part.splitlines()), "\n".join(lines)
    assert LONG in "".join(re.findall(r"L+", "\n".join(lines)))
    if words[0] == "matches":
        last = all_matches(home)[-1].match_id
        assert last in "\n".join(tables)
    assert not any("…" in line for line in lines)


# --- export -------------------------------------------------------------------------------------------------


def test_an_export_has_a_row_for_each_seat_of_each_match(dogana: Dogana, shared_home: Home, tmp_path: Path) -> None:
    matches = all_matches(shared_home)
    names = ("all.csv", "all.json")
    said = [dogana("ladder", "export", name, "--home", shared_home.folder).stdout.splitlines()[0] for name in names]
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    documents = json.loads((tmp_path / "all.json").read_text())
    assert len(rows) == len(documents) == sum(len(match.seats) for match in matches)
    assert said == [f"{name} has {len(rows)} rows, one for each seat of each match" for name in names]
    expected = [(match.match_id, seat.seat, seat.version.bot, seat.rank) for match in matches for seat in match.seats]
    assert [(row["match"], int(row["seat"]), row["bot"], int(row["rank"])) for row in rows] == expected
    assert [(one["match"], one["seat"], one["bot"], one["rank"]) for one in documents] == expected
    assert [json.loads(row["options"]) for row in rows] == [one["options"] for one in documents] == [{}] * len(rows)
    assert rows[0].keys() == documents[0].keys()


def test_no_text_in_an_export_is_a_formula_or_an_escape(dogana: Dogana, shared_home: Home, tmp_path: Path) -> None:
    dogana("ladder", "export", "all.csv", "--home", shared_home.folder)
    text = (tmp_path / "all.csv").read_text()
    check(text)
    with (tmp_path / "all.csv").open(newline="") as file:
        details = {row["detail"] for row in csv.DictReader(file)}
    assert details == {"", r"'=crashed \x1b[2J\u202e"}


@pytest.mark.parametrize("beginning", ["=1+1", "+1", "-1", "@SUM(1)", " =1+1", "\t=1+1", "\r-1", "\uff1d1"])
def test_a_cell_that_begins_like_a_formula_is_text(beginning: str) -> None:
    assert str(cell_of(beginning))[0] in "'\\"
    assert cell_of(-1) == -1  # a number is a number


def test_an_export_that_fails_leaves_the_earlier_file(
    dogana: Dogana, dogana_process: Dogana, shared_home: Home, tmp_path: Path
) -> None:
    (tmp_path / "all.json").write_text("earlier")
    just_enough_for_sqlite = 36_000
    ended = dogana_process(
        "ladder",
        "export",
        "all.json",
        "--force",
        "--home",
        shared_home.folder,
        status=1,
        max_bytes=just_enough_for_sqlite,
    )
    assert ended.stderr == "dogana: all.json: File too large\n"
    assert (tmp_path / "all.json").read_text() == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"all.json"}
    assert (
        "must end with .csv or .json"
        in dogana("ladder", "export", "x.txt", "--home", shared_home.folder, status=1).stderr
    )


def test_an_empty_ladder_has_nothing_to_tell_and_says_so(dogana: Dogana, tmp_path: Path) -> None:
    with Store(tmp_path / "ladder.db", create=True):
        pass
    assert dogana("ladder", "matches", "--home", ".").stdout == "no matches\n"
    dogana("ladder", "export", "all.json", "--home", ".")
    assert json.loads((tmp_path / "all.json").read_text()) == []
    assert json.loads(dogana("ladder", "bots", "--home", ".", "--json").stdout) == []


def test_what_cannot_be_paged_is_reported(shared_home: Home) -> None:
    with Store(shared_home.database, create=False) as store, pytest.raises(LadderError, match="does not count"):
        store.history.matches(1, before="nothing")
