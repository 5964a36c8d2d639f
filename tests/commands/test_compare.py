"""`dogana compare`: verdicts on real bots, their five lines, their JSON, and a comparison that goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.commands.plan_file import COMPARISON
from tests.cases import mostly_long
from tests.commands.conftest import Dogana, start
from tests.patience import patient
from tests.processes import wait_for_work

SHORT = ("--game", "cargo_noir", "--option", "last_turn=3", "--seed", 1)
ALONE = ("--workers", 1)
QUICK = (*SHORT, *ALONE)
TWIN = "greedy:temperature=0"
"""Greedy by another name."""
ROUTINE = "greedy:temperature=9,seed=1"
"""A worse bot, which draws the same in every match."""


def blocks(printed: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The blocks of `--json`, and the verdict."""
    *found, verdict = map(json.loads, printed.splitlines())
    return found, verdict


def records(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def test_the_better_of_two_bots_is_found_and_five_lines_say_how(dogana: Dogana) -> None:
    ended = dogana("compare", "greedy", "random", "--game", "venezia", "--seed", 1, "--workers", 2)
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["verdict", "matches", "beaten", "test", "lost"]
    assert lines[0] == "verdict  better: greedy is better than random"
    assert "Venezia: 2 seats at one table; clock 60+0.5/10, seed 1, dogana " in lines[1]
    assert "10 blocks, 20 matches" in lines[2]
    assert "(-3.06 to +3.06); a difference of 0.05 against 0, alpha 0.05, beta 0.05" in lines[3]
    assert lines[4] == "lost     no seat"
    assert "too few to tell how many are left" in ended.stderr


@pytest.mark.long
def test_the_worse_of_two_bots_is_not_better_with_a_status_of_its_own(dogana: Dogana) -> None:
    ended = dogana("compare", "random", "greedy", "--game", "venezia", "--seed", 1, status=1)
    assert ended.stdout.startswith("verdict  not better: random is not better than greedy by the margin\n")


@pytest.mark.parametrize("twin", mostly_long([TWIN, f"cmd:{sys.executable} -m house_bots greedy"]))
def test_two_bots_that_play_identically_are_found(dogana: Dogana, twin: str) -> None:
    ended = dogana("compare", "greedy", twin, *QUICK, "--margin", 0.25, status=1)
    assert ended.stdout.startswith(f"verdict  identical play: greedy and {twin.partition(' ')[0]}")
    assert "both have played identically in 10 blocks: are they the same?" in ended.stderr
    assert "difference +0.0%" in ended.stdout


def test_a_comparison_that_reaches_its_maximum_is_undecided_and_names_the_blocks_that_it_takes(dogana: Dogana) -> None:
    """It does not call versions level whose range may say otherwise."""
    ended = dogana("compare", "greedy", TWIN, *QUICK, "--max", 11, "--margin", 0.01, status=2)
    assert ended.stdout.startswith(
        f"verdict  undecided: the blocks of --max are too few to say whether greedy is better than {TWIN}"
    )
    assert "versions that differ by the margin take about 210 blocks; only a larger difference shows" in ended.stderr
    assert "; versions that differ by the margin take about 210 blocks\n" in ended.stdout


def test_each_block_is_a_json_object_and_so_is_the_verdict(dogana: Dogana) -> None:
    words = ("compare", "greedy", "random", *SHORT, "--margin", "0.4sd", "--json")
    found, verdict = blocks(dogana(*words, "--workers", 3).stdout)
    assert [block["block"] for block in found] == list(range(1, len(found) + 1))
    assert [block["seed"] for block in found] == list(range(1, len(found) + 1))
    assert all(block["matches"] == len(block["digests"]) == 2 for block in found)
    assert all(block["difference"] == pytest.approx(block["new"] - block["old"]) for block in found)
    assert verdict["verdict"] == "better"
    assert (verdict["margin"], verdict["margin_in_deviations"]) == (0.4, True)
    assert verdict["llr"] == found[-1]["llr"] >= verdict["bounds"][1]
    assert all(block["llr"] < verdict["bounds"][1] for block in found[9:-1])
    assert blocks(dogana(*words, "--workers", 1).stdout) == (found, verdict)


@pytest.mark.long
def test_a_crash_loses_its_seat_and_its_reason_is_printed(dogana: Dogana, tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(
        "import sys\nfrom dogana.sdk import play\nplay(lambda decision: print('I give up', flush=True) or sys.exit(7))\n"
    )
    ended = dogana("compare", "crash.py", "random", *QUICK, status=1)
    assert "crash.py, seat 0, was put out in cargo_noir-" in ended.stderr
    assert "(crash: exited with status 7)" in ended.stderr
    assert "  | I give up" in ended.stderr
    assert ended.stdout.splitlines()[-1] == "lost     crash.py 20 (20 crash: exited with status 7)"
    found, verdict = blocks(dogana("compare", "crash.py", "random", *QUICK, "--json", status=1).stdout)
    assert verdict["lost"] == {"crash.py": {"crash: exited with status 7": 20}}
    assert found[0]["lost"][0] == {
        "game": "cargo_noir",
        "bot": "crash.py",
        "seat": 0,
        "reason": "crash: exited with status 7",
    }
    assert verdict["share_new"] == 0


def test_a_version_that_does_not_start_is_no_verdict(dogana: Dogana) -> None:
    for words in (("cmd:false", "random"), ("random", "cmd:false", "--field", "--others", "greedy")):
        ended = dogana("compare", *words, *QUICK, status=4)
        assert ended.stdout == ""
        assert "did not start" in ended.stderr or "exited with status 1" in ended.stderr


def test_three_seats_and_two_games_are_one_verdict(dogana: Dogana) -> None:
    words = ("--game", "cargo_noir", "--game", "venezia", "--option", "last_turn=3", "--seed", 1)
    ended = dogana("compare", "greedy", "random", *words, "--seats", 3, "--margin", 0.4, "--json")
    found, verdict = blocks(ended.stdout)
    assert {block["matches"] for block in found} == {12}
    assert verdict["games"] == ["cargo_noir", "venezia"]
    assert sum(verdict["by_game"].values()) / 2 == pytest.approx(verdict["mean"], abs=1e-5)


def test_in_a_field_each_version_sits_alone_among_the_others(dogana: Dogana, tmp_path: Path) -> None:
    words = ("--field", "--others", "random", "--margin", 0.3, "--record", "field", "--json")
    found, verdict = blocks(dogana("compare", "greedy", TWIN, *QUICK, *words, status=1).stdout)
    assert (verdict["verdict"], verdict["field"], verdict["others"]) == ("identical play", True, ["random"])
    assert {block["matches"] for block in found} == {4}
    names = {tuple(json.loads(path.read_text().partition("\n")[0])["bots"]) for path in records(tmp_path / "field")}
    assert names == {("greedy", "random"), ("random", "greedy"), (TWIN, "random"), ("random", TWIN)}


def test_matches_that_repeat_each_other_are_no_evidence(dogana: Dogana) -> None:
    """Neither bot draws anything new, and Yunnan has no chance after its start: there are only a few different matches."""
    words = ("compare", "greedy", ROUTINE, "--game", "yunnan", "--seed", 1, *ALONE, "--json", "--openings", 0)
    _, verdict = blocks(dogana(*words, status=2).stdout)
    assert verdict["different"] < 10 < verdict["blocks"] < 60


def test_random_openings_make_different_matches(dogana: Dogana, tmp_path: Path) -> None:
    words = ("compare", "greedy", ROUTINE, "--game", "yunnan", "--seed", 1, *ALONE, "--json", "--openings", 4)
    _, verdict = blocks(dogana(*words, "--record", "records").stdout)
    assert verdict["different"] == verdict["blocks"]
    assert json.loads((tmp_path / "records" / COMPARISON).read_text())["options"] == {"openings": "4"}


# --- going on --------------------------------------------------------------------------------------------------


def killed(tmp_path: Path, *words: object, number: int) -> str:
    """Begin a comparison into `records`, and end it after some matches; return its standard error."""
    begun = start(tmp_path, *words, "--record", "records")
    wait_for_work(begun, lambda: len(records(tmp_path / "records")) >= 3)
    begun.send_signal(number)
    _, err = begun.communicate(timeout=patient(120))
    assert begun.returncode == (-number if number == signal.SIGKILL else 128 + number), err
    return err


@pytest.mark.parametrize("number", mostly_long([signal.SIGKILL, signal.SIGINT]))
def test_a_comparison_that_was_cut_short_goes_on_to_the_same_verdict(
    dogana: Dogana, tmp_path: Path, number: int
) -> None:
    words = ("compare", "greedy", "random", *SHORT, "--margin", 0.1)
    err = killed(tmp_path, *words, number=number)
    if number == signal.SIGINT:
        assert err.splitlines()[-1] == "to go on: dogana compare --resume records"
    resumed = dogana("compare", "--resume", "records", "--json", "--workers", 2)
    assert blocks(resumed.stdout) == blocks(dogana(*words, "--json", "--workers", 1).stdout)
    assert not [
        path for path in (tmp_path / "records").iterdir() if path.suffix != ".jsonl" and path.name != COMPARISON
    ]
    again = dogana("compare", "--resume", "records", "--json")
    assert again.stdout == resumed.stdout


def test_a_comparison_without_records_says_how_it_could_have_gone_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nfrom dogana.sdk import play\nprint('here', flush=True)\n"
        f"open({str(tmp_path / 'began')!r}, 'w')\nplay(lambda decision: time.sleep(1000) or 0)\n"
    )
    begun = start(tmp_path, "compare", "slow.py", "random", *QUICK)
    wait_for_work(begun, (tmp_path / "began").exists)
    begun.send_signal(signal.SIGINT)
    out, err = begun.communicate(timeout=patient(60))
    assert (begun.returncode, out) == (130, "")
    assert err.strip() == "with --record FOLDER, a comparison can go on after an interruption"


@pytest.fixture
def finished(dogana: Dogana, tmp_path: Path) -> Path:
    """The folder of a comparison with its verdict."""
    (tmp_path / "new.py").write_text("from dogana.sdk import play\nplay(lambda decision: 0)\n")
    dogana("compare", "greedy", "new.py", *QUICK, "--margin", 0.4, "--record", "records")
    return tmp_path / "records"


def test_a_folder_has_one_comparison_and_no_series(dogana: Dogana, finished: Path, tmp_path: Path) -> None:
    def refused(*words: object, status: int = 4) -> str:
        said = dogana(*words, status=status).stderr
        assert len(said.splitlines()) == 1, said
        return said

    begin = ("compare", "greedy", "random", *QUICK, "--record")
    assert "records has a comparison of greedy and new.py (better): go on with `dogana compare" in refused(
        *begin, "records"
    )
    assert "leave out --margin" in refused("compare", "--resume", "records", "--margin", "0.1")
    assert "there is no folder nowhere" in refused("compare", "--resume", "nowhere")
    assert "records has a comparison: go on with `dogana compare --resume records`" in refused(
        "play", "--resume", "records", status=1
    )
    dogana("play", "cargo_noir", "random", "random", "--option", "last_turn=2", "--games", 2, "--record", "series")
    for words in ((*begin, "series"), ("compare", "--resume", "series")):
        assert "series has a series: go on with `dogana play --resume series`" in refused(*words)
    for name, said in (
        ("tournament.toml", "has a tournament: go on with `dogana tournament run"),
        ("ladder.db", "has a ladder: go on with `dogana ladder run --home"),
    ):
        other = tmp_path / name.replace(".", "_")
        other.mkdir()
        (other / name).touch()
        for words in ((*begin, other.name), ("compare", "--resume", other.name)):
            assert f"{other.name} {said} {other.name}`" in refused(*words)
        refused("play", "cargo_noir", "random", "random", "--games", "2", "--record", other.name, status=1)
        assert not records(other)
    (tmp_path / "new.py").write_text("from dogana.sdk import play\nplay(lambda decision: 1)\n")
    assert "new.py has changed since the comparison in records began" in refused("compare", "--resume", "records")


def test_a_damaged_plan_is_refused_in_one_line(dogana: Dogana, finished: Path) -> None:
    plan = json.loads((finished / COMPARISON).read_text())
    damages = {
        "{": "is not JSON",
        "[]": "is not a JSON object",
        json.dumps({**plan, "alpha": 0.7}): "has values that no comparison has",
        json.dumps(
            {**plan, "alpha": "x"}
        ): "has an entry of another type than a plan: Expected `float`, got `str` - at `$.alpha`",
        json.dumps({**plan, "more": 1}): "has other entries than a plan: more",
    }
    for damaged, said in damages.items():
        (finished / COMPARISON).write_text(damaged)
        err = dogana("compare", "--resume", "records", status=4).stderr
        assert said in err
        assert len(err.splitlines()) == 1


# --- wrong values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("greedy", "greedy"), "NEW and OLD are the same bot, greedy"),
        (("mine.py", "./mine.py"), "NEW and OLD, mine.py and ./mine.py, are the same path"),
        (("mine.py", "copy.py"), "are two copies of the same files"),
        (("mine.py", "none.py"), "there is no file or folder 'none.py'"),
        (("greedy", "/dev/zero"), "/dev/zero is neither a file nor a folder"),
        (("pipe", "greedy"), "pipe is neither a file nor a folder"),
        (("greedy", "remote"), "a remote agent joins one match"),
        (("greedy", "random", "--others", "random"), "2 seats leave none for --others"),
        (("greedy", "random", "--seats", "4", *["--others", "random"] * 3), "4 seats leave 2 for --others, not 3"),
        (("greedy", "random", "--seats", "9"), "cargo_noir is for 2 to 5 seats"),
        (("greedy", "random", "--memory", "64"), "are for --isolate"),
        (("greedy", "random", "--game", "cargo_noir"), "--game cargo_noir is given twice"),
        (("greedy", "random", "--game", "chess"), "there is no game 'chess'"),
        (("greedy", "random", "--option", "colour=red"), "colour"),
        (("greedy", "random", "--ray", "local", "--others", "x"), "2 seats leave none"),
        (("greedy", "mine.py", "--ray", "local"), "other machines start commands in a sandbox"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_versions_that_cannot_be_compared_are_refused_in_one_line(
    here: Dogana, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "mine.py").write_text("from dogana.sdk import play\nplay(lambda decision: 0)\n")
    shutil.copy(tmp_path / "mine.py", tmp_path / "copy.py")
    os.mkfifo(tmp_path / "pipe")
    err = here("compare", *words, "--game", "cargo_noir", status=4).stderr
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        *(
            ("--margin", value, "more than 0 and less than 1")
            for value in ("0", "-0.1", "1", "2", "nan", "x", "0sd", "sd")
        ),
        *(("--alpha", value, "more than 0 and less than 0.5") for value in ("0", "0.5", "nan", "-1")),
        *(("--beta", value, "more than 0 and less than 0.5") for value in ("0", "0.7")),
        *(("--max", value, "must be 10 to 1000000") for value in ("9", "0", "-1", "10000000")),
    ],
)
def test_a_wrong_value_is_refused_with_the_right_ones(here: Dogana, option: str, value: str, said: str) -> None:
    err = here("compare", "greedy", "random", "--game", "venezia", option, value, status=2).stderr
    assert said in err
    assert option in err


def test_a_maximum_in_which_no_test_can_end_is_refused(here: Dogana) -> None:
    words = ("compare", "greedy", "random", "--game", "venezia", "--alpha", "0.001", "--max", "12")
    assert "12 blocks are too few for --alpha 0.001 and --beta 0.05, even if" in here(*words, status=2).stderr


def test_without_versions_or_a_game_the_command_says_what_it_needs(here: Dogana) -> None:
    for words in ((), ("greedy",), ("greedy", "random")):
        assert "name both versions and a game" in here("compare", *words, status=2).stderr
    assert "--resume needs the folder" in here("compare", "--resume", status=4).stderr
