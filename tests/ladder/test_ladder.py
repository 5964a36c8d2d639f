"""The ladder with a real SQLite file, real bots in real processes, and real kills."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ladder.commands.run import confine
from ladder.facts.standings import SUSPENDED_AFTER
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.play.blocks import Blocks
from referee.sandbox.box import CannotIsolate
from referee.sandbox.limits import ResourceLimits
from tests.commands.conftest import Dogana, dogana
from tests.ladder.archived import (
    damage,
    find_logs,
    lines_of,
    logged,
    put_record,
    record_of,
    recorded,
    remove_record,
)
from tests.ladder.soak import (
    check,
    results,
    soak,
    start_run,
    wait_for_results,
    wait_for_unfinished_records,
    workers_of,
)
from tests.patience import patient, wait_until
from tests.processes import running_in
from tests.sandbox.conftest import needs_bubblewrap

__all__ = ["dogana"]

pytestmark = pytest.mark.ladders

RANDOM = "import random\nfrom dogana.sdk import play\nplay(lambda decision: random.randrange(decision.action_count))\n"
CRASHING = "from dogana.sdk import play\nplay(lambda decision: 1 // 0)\n"
LATE_CRASHING = (
    "from dogana.sdk import play\ndecisions = 0\n"
    "def choose(decision):\n    global decisions\n    decisions += 1\n"
    "    return 0 if decision.match.match_id.startswith('qualify') else 1 // 0\n"
    "play(choose)\n"
)


def submit(dogana: Dogana, folder: Path, name: str, author: str, program: str = RANDOM, **arguments: Any) -> Any:
    (folder / f"{name}.py").write_text(program)
    return dogana("ladder", "submit", f"{name}.py", "--name", name, "--author", author, "--home", "home", **arguments)


def run(dogana: Dogana, matches: int, *arguments: object, **more: Any) -> Any:
    return dogana(
        "ladder",
        "run",
        "--game",
        "cargo_noir",
        "--matches",
        matches,
        "--home",
        "home",
        "--unconfined",
        *arguments,
        **more,
    )


def top(dogana: Dogana) -> list[dict[str, Any]]:
    return json.loads(dogana("ladder", "top", "cargo_noir", "--home", "home", "--json").stdout)  # type: ignore[no-any-return]


def recompute(dogana: Dogana) -> None:
    assert "agree to the last digit" in dogana("ladder", "recompute", "--home", "home").stdout


def test_a_bot_is_submitted_qualifies_plays_and_is_rated(dogana: Dogana, tmp_path: Path) -> None:
    assert submit(dogana, tmp_path, "mybot", "me").stdout.splitlines() == [
        "mybot v1 by me is in; it qualifies with the next run, or at once if the ladder is served",
        "it is started by: python mybot.py",
    ]
    [entry] = top(dogana)
    assert (entry["bot"], entry["mu"], entry["status"]) == ("mybot", None, "waits to qualify")
    ended = run(dogana, 6)
    assert "bots run unconfined" in ended.stderr
    assert "mybot v1 qualifies for cargo_noir" in ended.stderr.splitlines()
    entries = {entry["bot"]: entry for entry in top(dogana)}
    assert {"mybot", "random"} <= entries.keys()
    assert entries["mybot"]["matches"] > 0
    assert entries["mybot"]["low"] < entries["mybot"]["strength"] < entries["mybot"]["high"]
    assert [entry["place"] for entry in top(dogana)] == [*range(1, len(entries)), None]
    assert top(dogana)[-1]["bot"] == "search"  # it waits for the tenth block of a size
    assert "sigma" in dogana("ladder", "top", "--home", "home").stdout
    recompute(dogana)


def test_one_run_can_mix_games(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    ended = run(dogana, 12, "--game", "yunnan", "--game", "cargo_noir")
    assert "matches played, in whole blocks; look at the standings: dogana ladder top" in ended.stdout
    assert "top cargo_noir" not in ended.stdout
    assert ended.stderr.count("mybot v1 qualifies") == 2
    database = sqlite3.connect(tmp_path / "home" / "ladder.db")
    matches = dict(
        database.execute(
            "select game, count(*) from matches join blocks on block = blocks.id join conditions on condition = conditions.id"
            " group by game"
        )
    )
    assert matches.keys() == {"cargo_noir", "yunnan"}
    assert abs(matches["cargo_noir"] - matches["yunnan"]) <= 5
    recompute(dogana)


def test_each_clock_has_a_standing_of_its_own_and_what_another_run_has_left_is_said(
    dogana: Dogana, tmp_path: Path
) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    run(dogana, 4)
    with Store(tmp_path / "home" / "ladder.db", create=False) as store:
        [usual] = store.roster.conditions().values()
        left = Blocks(store, usual, [2]).add(1)
    before = top(dogana)
    ended = run(dogana, 2, "--clock", "5+0/5")
    needed = f"another run has left {len(left)} matches, to be played with --game cargo_noir --clock 60+0.5/10"
    assert needed in ended.stderr.splitlines()
    assert "mybot v1 qualifies" in ended.stderr  # under this clock, too
    after = top(dogana)
    assert [entry for entry in after if entry["clock"] == "60+0.5/10"] == before
    assert sum(entry["matches"] for entry in after if entry["clock"] == "5+0/5") >= 2 * 2
    printed = dogana("ladder", "top", "--home", "home").stdout
    assert printed.index("Cargo Noir (60+0.5/10)") < printed.index("Cargo Noir (5+0/5)")
    run(dogana, 1)
    with Store(tmp_path / "home" / "ladder.db", create=False) as store:
        assert store.schedule.open_matches() == {}
    recompute(dogana)


def test_a_new_version_inherits_and_the_old_one_is_replaced(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    run(dogana, 8)
    before = {(entry["bot"], entry["version"]): entry for entry in top(dogana)}
    assert "nothing new" in submit(dogana, tmp_path, "mybot", "me").stdout
    assert "mybot v2" in submit(dogana, tmp_path, "mybot", "me", RANDOM + "# better\n").stdout
    run(dogana, 4)
    after = {(entry["bot"], entry["version"]): entry for entry in top(dogana)}
    assert after["mybot", 1]["status"] == "replaced"
    more = after["mybot", 1]["matches"] - before["mybot", 1]["matches"]
    assert after["mybot", 2]["matches"] >= more  # it plays beside its successor, and nothing else
    assert after["mybot", 2]["matches"] > 0
    assert after["mybot", 2]["sigma"] < 25 / 3
    recompute(dogana)


def test_a_bot_that_fails_does_not_qualify_and_its_author_is_told_where_its_log_is(
    dogana: Dogana, tmp_path: Path
) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    submit(dogana, tmp_path, "broken", "you", CRASHING)
    ended = run(dogana, 2)
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("broken v1 does not qualify: crash")]
    assert "ZeroDivisionError: " in line.split("(its log: ")[0]
    words = line.split("(its log: dogana ")[1].rstrip(")").split()
    assert words[-2:] == ["--home", "home"]
    assert "ZeroDivisionError" in dogana(*words).stdout
    [entry] = [entry for entry in top(dogana) if entry["bot"] == "broken"]
    assert (entry["matches"], entry["status"], entry["reason"][:7]) == (0, "not qualified", "crash: ")


def test_a_bot_that_is_out_in_match_after_match_is_suspended(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "flaky", "you", LATE_CRASHING)
    submit(dogana, tmp_path, "mybot", "me")
    run(dogana, 30, "--workers", 2)  # with many, it would sit in many blocks before the first of them is over
    [entry] = [entry for entry in top(dogana) if entry["bot"] == "flaky"]
    assert (entry["status"], entry["reason"]) == ("suspended", f"out in its last {SUSPENDED_AFTER} matches")
    assert SUSPENDED_AFTER <= entry["out"] == entry["matches"] < 15
    recompute(dogana)


def written(home: Home) -> list[str]:
    """What bots wrote in all matches."""
    found = (find_logs(home, match_id) for match_id in logged(home))
    return [text.decode() for logs in found for name, text in logs.items() if name.endswith(".log")]


def test_submitted_bots_get_a_scrubbed_environment_and_cannot_write_to_their_files(
    dogana: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGANISERS_SECRET", "x")
    program = "import os\nprint(sorted(os.environ), os.access('.', os.W_OK), flush=True)\n" + RANDOM
    submit(dogana, tmp_path, "curious", "me", program)
    run(dogana, 2)
    logs = written(Home(tmp_path / "home"))
    seen = next(text for text in logs if "DOGANA_TOKEN" in text)
    assert "ORGANISERS_SECRET" not in seen


@needs_bubblewrap
def test_bots_run_in_a_sandbox_unless_the_organiser_says_otherwise(dogana: Dogana, tmp_path: Path) -> None:
    program = (
        f"import os\nprint(os.path.exists({str(tmp_path)!r}), os.getcwd(), sorted(os.environ), flush=True)\n{RANDOM}"
    )
    submit(dogana, tmp_path, "mybot", "me", program)
    ended = dogana("ladder", "run", "--game", "cargo_noir", "--matches", 2, "--home", "home", "--memory", 256)
    assert "each bot has 256 MiB of memory, 64 processes and threads" in ended.stderr
    assert "unconfined" not in ended.stderr
    logs = written(Home(tmp_path / "home"))
    assert logs
    assert all(text.startswith("False /bot ['DOGANA_ADDRESS', 'DOGANA_TOKEN', ") for text in logs)
    [newest, *_] = json.loads(dogana("ladder", "matches", "mybot", "--json", "--home", "home").stdout)["matches"]
    seats = json.loads(dogana("ladder", "match", newest["match"], "--json", "--home", "home").stdout)["seats"]
    [used] = [seat["usage"] for seat in seats if seat["bot"] == "mybot v1"]
    assert used.keys() == {"memory_peak", "memory_kills", "tasks_peak", "cpu_seconds"}
    assert "seat " in dogana("ladder", "match", newest["match"], "--home", "home").stdout


def test_without_bubblewrap_the_organiser_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("referee.sandbox.box.shutil.which", lambda *_, **__: None)
    with pytest.raises(
        CannotIsolate,
        match=r"cannot be isolated here \(bubblewrap: is not installed\); install bubblewrap .*; or say --unconfined",
    ):
        confine(Home(tmp_path), ResourceLimits())


@pytest.mark.parametrize("command", ["run", "serve"])
def test_a_folder_for_temporary_files_that_is_too_deep_is_said_in_one_line(
    dogana: Dogana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    submit(dogana, tmp_path, "mine", "me")
    (deep := tmp_path / ("x" * 100)).mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    words = (
        ("--matches", 4, "--workers", 1) if command == "run" else ("--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
    )
    ended = dogana("ladder", command, "--home", "home", "--game", "cargo_noir", "--unconfined", *words, status=1)
    assert "set TMPDIR to a shorter one" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


def test_records_that_are_lost_for_good_are_counted_on_only_when_told_so_and_named_each_time(
    dogana: Dogana, tmp_path: Path
) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    run(dogana, 6)
    before = top(dogana)
    home = Home(tmp_path / "home")
    gone, damaged, later, *_ = [match_id for match_id in recorded(home) if not match_id.startswith("qualify-")]
    record = record_of(home, gone)
    remove_record(home, gone)
    damage(home, damaged)
    with sqlite3.connect(tmp_path / "home" / "ladder.db") as database:
        database.execute("update ratings set mu = mu + 1 where version = 1")

    def recomputed(*options: str, status: int) -> str:
        return str(dogana("ladder", "recompute", "--home", "home", *options, status=status).stdout)

    said = recomputed("--repair", status=1)
    assert said.count("differs: ") == 4
    assert "if they are lost for good, say --repair --count-lost" in said
    assert top(dogana) != before
    said = recomputed("--repair", "--count-lost", status=1)
    assert said.count("differs: ") == 4
    assert "count without a record from now on, as the ladder has them: 2" in said
    assert top(dogana) == before
    said = recomputed(status=0)
    assert [line.split()[0] for line in said.splitlines()][:-1] == ["lost:", "lost:"]
    assert gone in said
    assert damaged in said
    assert "2 of them without a record; the others are verified; all ratings agree to the last digit" in said
    remove_record(home, later)
    found = json.loads(recomputed("--json", status=1))
    assert (found["agrees"], len(found["problems"]), len(found["lost"])) == (False, 1, 2)
    assert recomputed("--repair", status=1).count("differs: ") == 1
    put_record(home, gone, record)  # a backup turned up
    assert len(json.loads(recomputed("--json", status=1))["lost"]) == 1


def test_a_run_plays_with_its_options_and_seats_and_bots_qualify_under_the_same(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    run(dogana, 2, "--option", "last_turn=2", "-o", "first_player=0", "--seats", 3, "--clock", "5+0/5")
    home = Home(tmp_path / "home")
    heads = [lines_of(home, match_id)[0].data for match_id in recorded(home)]
    assert len(heads) == 1 + 3  # mybot qualified
    for head in heads:
        assert (head["clock"], len(head["bots"])) == ("5+0/5", 3)
        assert (head["options"]["last_turn"], head["options"]["first_player"]) == (2, 0)
    [terms] = {(entry["clock"], json.dumps(entry["options"])) for entry in top(dogana)}
    assert terms == ("5+0/5", '{"first_player": 0, "last_turn": 2}')
    recompute(dogana)


def test_a_number_of_seats_that_cannot_be_filled_is_said(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    said = run(dogana, 1, "--seats", 5, status=1).stderr.splitlines()[-1]
    assert said.startswith("dogana: 3 bots can play cargo_noir here, too few for a match of 5 seats")


SLOW = (
    "import time\nfrom dogana.sdk import play\ndecisions = 0\n"
    "def choose(decision):\n    global decisions\n    decisions += 1\n"
    "    time.sleep(1.5 if decisions < 4 else 0)\n    return 0\nplay(choose)\n"
)


def test_a_bot_that_needs_time_qualifies_where_the_clock_gives_it_and_nowhere_else(
    dogana: Dogana, tmp_path: Path
) -> None:
    submit(dogana, tmp_path, "slow", "me", SLOW)
    ended = run(dogana, 1, "--seats", 2, "--clock", "60+0/0.5")
    assert "slow v1 does not qualify: timeout" in ended.stderr
    ended = run(dogana, 1, "--seats", 2, "--clock", "600+0/60")
    assert "slow v1 qualifies" in ended.stderr
    found = {entry["clock"]: entry for entry in top(dogana) if entry["bot"] == "slow"}
    assert found["60+0/0.5"]["status"] == "not qualified"
    assert found["60+0/0.5"]["reason"].startswith("timeout")
    assert found["600+0/60"]["status"] != "not qualified"


def test_top_shows_the_standings_that_are_asked_for(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    quick, short = ["--clock", "5+0/5"], ["--option", "last_turn=2"]
    run(dogana, 1, "--seats", 2, *quick, *short)
    run(dogana, 1, "--seats", 2, *quick)

    def output(*arguments: str, status: int = 0) -> Any:
        return dogana("ladder", "top", "cargo_noir", "--home", "home", *arguments, status=status)

    assert "Cargo Noir (5+0/5)" in output().stdout
    assert "Cargo Noir (5+0/5, last_turn=2)" in output().stdout
    assert "Cargo Noir (5+0/5)" not in output(*short).stdout
    assert "last_turn=2" not in output("--option", "last_turn=track").stdout  # which is what the game has anyway
    assert len(output("--json", *quick, *short).stdout) < len(output("--json", *quick).stdout)
    assert (
        "not run under that condition, but under: 5+0/5, last_turn=2; 5+0/5"
        in output("--clock", "1+0/1", status=1).stderr
    )


ONE = ["--game", "cargo_noir", "--matches", "1", "--home", "mine"]
BAD = [
    (["recompute", "--count-lost", "--home", "nowhere"], "say --repair, too"),
    (["run", *ONE, "--option", "last_turn", "--unconfined"], "must be written as NAME=VALUE"),
    (["run", *ONE, "--option", "colour=red", "--unconfined"], "cargo_noir has no option 'colour'; its options"),
    (["run", *ONE, "--seats", "7", "--unconfined"], "cargo_noir is for 2 to 5 seats, not 7"),
    (["run", *ONE, "--game", "yunnan", "-o", "expert=true", "--unconfined"], "options belong to one game"),
    (
        ["run", *ONE, "--memory", "512", "--unconfined"],
        "--memory, --tasks, --cpus and --no-pondering are enforced by the sandbox; leave out --unconfined",
    ),
    (["top", "--option", "last_turn=2", "--home", "mine"], "options belong to one game"),
    (["top", "cargo_noir", "--clock", "soon", "--home", "mine"], "is not a clock"),
    (["top", "--home", "nowhere"], "nowhere is not a ladder"),
    (["run", "--game", "cargo_noir", "--matches", "1", "--home", "nowhere", "--unconfined"], "nowhere is not a ladder"),
    (["run", "--game", "cargo_noir", "--matches", "1", "--clock", "x", "--unconfined"], "is not a clock"),
    (["top", "chess", "--home", "."], "there is no game 'chess'"),
    (["top", "--home", "files"], "files is not a ladder"),
    (["top", "--home", "broken"], "is not a ladder"),
    (["top", "--home", "other"], "is an SQLite file, but not a ladder"),
    (["submit", "none.py", "--name", "a", "--author", "b", "--home", "new"], "there is no file or folder none.py"),
    (["submit", "bot.py", "--name", "x", "--author", "b", "--home", "files"], "neither a ladder nor an empty folder"),
]


@pytest.mark.parametrize(("arguments", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_what_a_ladder_cannot_do_is_said_in_one_line(
    dogana: Dogana, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    for name in ("files", "broken", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "bot.py").write_text(RANDOM)
    if "mine" in arguments:
        dogana("ladder", "submit", "bot.py", "--name", "mine", "--author", "me", "--home", "mine")
    (tmp_path / "files" / "notes.txt").write_text("mine")
    (tmp_path / "broken" / "ladder.db").write_text("no database at all, but long enough to look at" * 100)
    with sqlite3.connect(tmp_path / "other" / "ladder.db") as database:
        database.execute("create table shopping (item)")
    ended = dogana("ladder", *arguments, status=1)
    assert len(ended.stderr.splitlines()) == 1
    assert reason in ended.stderr
    assert (tmp_path / "files" / "notes.txt").read_text() == "mine"


# --- killed at any moment -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_while_others_use_the_ladder_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path, seed: int
) -> None:
    """`submit`, `top` and `recompute` beside a run that is killed and stopped; `make soak` does more of it."""
    assert soak(tmp_path, kills=3, seed=seed) > 0


def test_a_worker_that_is_killed_loses_nothing(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    process = start_run(tmp_path, 24)
    for _ in range(3):
        wait_for_results(tmp_path, results(tmp_path) + 1)
        wait_for_unfinished_records(tmp_path, 2)  # both workers are in the middle of a match
        for worker in workers_of(process.pid)[:1]:
            os.kill(worker, signal.SIGKILL)
    process.communicate(timeout=patient(120))
    assert process.returncode == 0
    assert results(tmp_path) >= 24
    check(tmp_path)


def test_no_bot_and_no_worker_survives_a_killed_run(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    process = start_run(tmp_path, 1000)
    wait_for_results(tmp_path, 1)
    process.kill()
    process.communicate()
    wait_until(lambda: not running_in(tmp_path / "home"))


def test_the_default_home_is_where_the_system_keeps_data(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(RANDOM)
    dogana("ladder", "submit", "bot.py", "--name", "a", "--author", "b")
    assert (tmp_path / "data" / "dogana" / "ladder" / "ladder.db").is_file()
    with Store(tmp_path / "data" / "dogana" / "ladder" / "ladder.db", create=False) as store:
        assert store.roster.versions()


def test_a_version_whose_files_are_gone_is_named_and_spoils_nothing_else(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    [folder] = (tmp_path / "home" / "versions").iterdir()
    folder.rename(tmp_path / "elsewhere")
    ended = run(dogana, 2)
    assert "mybot v1 could not be qualified this time: the files of mybot v1 are gone" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_newest_version_that_has_not_failed_plays(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    submit(dogana, tmp_path, "mybot", "me", CRASHING)
    run(dogana, 2)
    run(dogana, 4)
    found = {entry["version"]: entry for entry in top(dogana) if entry["bot"] == "mybot"}
    assert found[1]["status"] == ""
    assert found[2]["status"] == "not qualified"
    assert found[2]["reason"].startswith("crash")
    assert "v2 is the newest" in submit(dogana, tmp_path, "mybot", "me").stdout


def test_a_version_that_was_replaced_before_it_played_says_so(dogana: Dogana, tmp_path: Path) -> None:
    submit(dogana, tmp_path, "mybot", "me")
    submit(dogana, tmp_path, "mybot", "me", RANDOM + "# better\n")
    assert {entry["version"]: entry["status"] for entry in top(dogana)} == {
        1: "replaced",
        2: "waits to qualify",
    }
