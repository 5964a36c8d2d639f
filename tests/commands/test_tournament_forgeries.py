"""`dogana tournament verify` finds every forgery, and names it in one line. Each is made in a copy of one honest tournament."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from house_bots.random_bot import RandomBot

from referee.live.matches.fixture_matches import match_plan
from referee.live.matches.play import House
from referee.match.plan import MatchPlan
from referee.records.claimed import claimed_result
from referee.records.record import RecordError
from referee.tournament.course import course
from referee.tournament.plan import read_plan
from tests import matches
from tests.commands.conftest import Dogana, in_a_process

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
GAME = ("--game", "cargo_noir", "-o", "last_turn=3", "--blocks", "1")
FIRST = "round1-table1-cargo_noir-block1-rotation0"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two tournaments of the same entrants, `cup` and `other`, and one in rounds, `swiss`; all are over."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "bot.py").write_text(BOT)
    dogana = in_a_process(folder)
    for name, seed in (("cup", 5), ("other", 6)):
        dogana("tournament", "new", name, "greedy", "random", "bot.py", *GAME, "--seed", seed)
    dogana("tournament", "new", "swiss", "greedy", "random", "bot.py", *GAME, "--seed", 5, "--format", "swiss")
    for name in ("cup", "other", "swiss"):
        dogana("tournament", "run", name, "--workers", 2)
        assert "holds" in dogana("tournament", "verify", name).stdout
    return folder


@pytest.fixture
def cup(honest: Path, tmp_path: Path) -> Path:
    """A copy of the honest tournaments, in which one is forged."""
    shutil.copytree(honest, tmp_path, dirs_exist_ok=True)
    return tmp_path / "cup"


def problems(verified: Dogana, name: str = "cup") -> list[str]:
    """Verify a tournament in which something is wrong; return its problems, a line each."""
    found: list[str] = json.loads(verified("tournament", "verify", name, "--json", status=1).stdout)["problems"]
    return found


def replay(cup: Path, change: Callable[[MatchPlan], dict[str, Any]]) -> None:
    """Put a valid record of a changed match into the place of the first one."""
    plan = read_plan((cup / "tournament.toml").read_text(), "")
    fixture = next(one for one in course(plan, {}).fixtures if one.name == FIRST)
    due = match_plan(plan, fixture)
    played = type(due)(**{**{key: getattr(due, key) for key in due.__slots__}, **change(due)})
    path = cup / "records" / f"{FIRST}.jsonl"
    path.unlink()
    matches.play(played, [House(RandomBot)] * 2, record=path)


def rewrite(cup: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the file with the final table."""
    document = json.loads((cup / "result.json").read_text())
    change(document)
    (cup / "result.json").write_text(json.dumps(document))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def forge_pairing(cup: Path) -> None:
    replay(cup, lambda due: {"bots": ["greedy", "ann"]})


def forge_seats(cup: Path) -> None:
    replay(cup, lambda due: {"bots": list(reversed(due.bots))})


def forge_seed(cup: Path) -> None:
    replay(cup, lambda due: {"seed": due.seed + 1})


def forge_result_in_a_record(cup: Path) -> None:
    replace(cup / "records" / f"{FIRST}.jsonl", '"rank":1', '"rank":2')


def play_a_match_again(cup: Path) -> None:
    replay(cup, lambda due: {})


def forge_tie_break(cup: Path) -> None:
    rewrite(cup, lambda document: document["table"][0]["tie_breaks"].update(lots="3"))


def forge_place(cup: Path) -> None:
    rewrite(cup, lambda document: document["table"][2].update(place=1))


def forge_order(cup: Path) -> None:
    rewrite(cup, lambda document: document["table"].reverse())


def forge_points(cup: Path) -> None:
    rewrite(cup, lambda document: document["table"][1].update(points="9/10"))


def forge_verdict(cup: Path) -> None:
    rewrite(cup, lambda document: document.update(verdict="bot wins"))


def add_a_row(cup: Path) -> None:
    rewrite(cup, lambda document: document["table"].append(document["table"][0]))


def add_an_entry(cup: Path) -> None:
    rewrite(cup, lambda document: document.update(winner="bot"))


def remove_the_table(cup: Path) -> None:
    (cup / "result.json").unlink()


def take_a_record_of_another_tournament(cup: Path) -> None:
    shutil.copy(cup.parent / "other" / "records" / f"{FIRST}.jsonl", cup / "records")


def remove_a_record(cup: Path) -> None:
    (cup / "records" / f"{FIRST}.jsonl").unlink()


def empty_a_record(cup: Path) -> None:
    (cup / "records" / f"{FIRST}.jsonl").write_text("")


def add_a_record(cup: Path) -> None:
    shutil.copy(cup / "records" / f"{FIRST}.jsonl", cup / "records" / "round2-table1-cargo_noir-block1-rotation0.jsonl")


def exchange_two_records(cup: Path) -> None:
    one, other = (cup / "records" / f"{FIRST[:-1]}{rotation}.jsonl" for rotation in (0, 1))
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (forge_pairing, f"{FIRST}.jsonl has the bots ['greedy', 'ann'], not "),
        (forge_seats, f"{FIRST}.jsonl has the bots "),
        (forge_seed, f"{FIRST}.jsonl has the seed "),
        (forge_result_in_a_record, f"{FIRST}.jsonl:"),
        (play_a_match_again, f"result.json: records, {FIRST}: "),
        (forge_tie_break, "result.json: table, row 1, tie_breaks: "),
        (forge_place, "result.json: table, row 3, place: 1, but 3 follows from the records"),
        (forge_order, "result.json: table, row 1, "),
        (forge_points, 'result.json: table, row 2, points: "9/10", but '),
        (forge_verdict, 'result.json: verdict: "bot wins", but "greedy wins'),
        (add_a_row, "result.json: table: "),
        (add_an_entry, "result.json must have the entries verdict, table, records, and no other"),
        (remove_the_table, "result.json is missing; `dogana tournament run` writes it"),
        (take_a_record_of_another_tournament, f"{FIRST}.jsonl has the seed "),
        (remove_a_record, f"result.json has a record of {FIRST}, but "),
        (empty_a_record, f"result.json has a record of {FIRST}, but "),
        (add_a_record, "round2-table1-cargo_noir-block1-rotation0.jsonl belongs to no match of this tournament"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_a_forgery_is_found_and_named_in_one_line(
    here: Dogana, cup: Path, forge: Callable[[Path], None], said: str
) -> None:
    forge(cup)
    [found] = problems(here)
    assert said in found
    assert "\n" not in found


def rank_nobody_first(result: dict[str, Any]) -> None:
    for seat in result["seats"]:
        seat["rank"] = 2


def number_a_seat_wrong(result: dict[str, Any]) -> None:
    result["seats"][0]["seat"] = 99


def remove_a_seat(result: dict[str, Any]) -> None:
    result["seats"].pop()


def remove_all_seats(result: dict[str, Any]) -> None:
    result["seats"].clear()


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (rank_nobody_first, "has no first place in its result"),
        (number_a_seat_wrong, "does not have one result for each seat, in their order"),
        (remove_a_seat, "does not have one result for each seat, in their order"),
        (remove_all_seats, "does not have one result for each seat, in their order"),
    ],
)
def test_what_reads_results_without_verifying_them_refuses_those_that_cannot_be(
    here: Dogana, cup: Path, forge: Callable[[dict[str, Any]], None], said: str
) -> None:
    path = cup / "records" / f"{FIRST}.jsonl"
    lines = path.read_text().splitlines()
    [at] = [number for number, line in enumerate(lines) if line.startswith('{"type":"result"')]
    result = json.loads(lines[at])
    forge(result)
    path.write_text("\n".join([*lines[:at], json.dumps(result), *lines[at + 1 :], ""]))
    for words in (("show", "cup"), ("page", "cup", "public")):
        [line] = here("tournament", *words, status=1).stderr.splitlines()
        assert f"{FIRST}.jsonl" in line
        assert said in line


@pytest.mark.parametrize("time", ["1" + "0" * 400, "1e999", "-5", '"long"'])
def test_a_time_that_no_match_can_take_is_refused(cup: Path, time: str) -> None:
    path = cup / "records" / f"{FIRST}.jsonl"
    path.write_text(re.sub(r'"think_ms":[\d.]+', f'"think_ms":{time}', path.read_text()))
    with pytest.raises(RecordError, match=r"result\.seats\[0\]\.think_ms must be a number of milliseconds"):
        claimed_result(path)


def test_what_is_said_about_a_seat_that_is_none_is_not_read(cup: Path) -> None:
    path = cup / "records" / f"{FIRST}.jsonl"
    claimed = claimed_result(path)
    path.write_text(path.read_text().replace('{"type":"result"', '{"type":"out","seat":[1]}\n{"type":"result"'))
    assert claimed_result(path) == claimed


def test_a_record_of_a_larger_table_is_refused_by_its_name(here: Dogana, cup: Path) -> None:
    plan = read_plan((cup / "tournament.toml").read_text(), "")
    due = match_plan(plan, next(one for one in course(plan, {}).fixtures if one.name == FIRST))
    game = due.game
    setup = game.setup(3, due.setup.options, due.setup.board_data)
    larger = MatchPlan(game, setup, due.match_id, due.seed, [*due.bots, "third"], due.control)
    path = cup / "records" / f"{FIRST}.jsonl"
    path.unlink()
    matches.play(larger, [House(RandomBot)] * 3, record=path)
    for words in (("show", "cup"), ("page", "cup", "public")):
        [line] = here("tournament", *words, status=1).stderr.splitlines()
        assert f"the record {FIRST} has 3 seats, and its match 2; put the right one back, or remove it" in line


def test_two_exchanged_records_are_both_named(here: Dogana, cup: Path) -> None:
    exchange_two_records(cup)
    assert [f"rotation{number}.jsonl has the bots" in found for number, found in enumerate(problems(here))] == [
        True
    ] * 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("blocks = 1", "blocks = 2", "blocks has changed since the first match from 1 to 2"),
        ("seed = 5", "seed = 6", "seed has changed since the first match from 5 to 6"),
        ('faults = "forfeit"', 'faults = "strike-out"', "faults has changed since the first match"),
        ('scoring = "wins"', 'scoring = "places"', "scoring has changed since the first match"),
        ('"head-to-head", ', "", "tie_breaks has changed since the first match"),
        ('name = "bot"', 'name = "dee"', "entrants has changed since the first match"),
        ("isolate = false", "isolate = true", "isolation has changed since the first match"),
        ('"last_turn" = 3', '"last_turn" = 4', "games has changed since the first match"),
        ('format = "round-robin"', 'balance = "near"\nformat = "round-robin"', "balance has changed since the first match"),
    ],
)  # fmt: skip
def test_a_change_of_the_file_after_the_first_match_is_named(
    here: Dogana, cup: Path, old: str, new: str, said: str
) -> None:
    replace(cup / "tournament.toml", old, new)
    assert said in here("tournament", "verify", "cup", status=1).stderr


def test_a_file_that_was_changed_together_with_the_note_of_it_is_found_by_what_follows(here: Dogana, cup: Path) -> None:
    replace(cup / "tournament.toml", "seed = 5", "seed = 6")
    replace(cup / ".tournament.json", '"seed": 5', '"seed": 6')
    assert all(" has the " in found for found in problems(here))
    shutil.copy(cup.parent / "other" / ".tournament.json", cup)
    replace(cup / "tournament.toml", "seed = 6", "seed = 5")
    assert "seed has changed" in here("tournament", "verify", "cup", status=1).stderr


def test_in_rounds_a_removed_record_is_named_and_not_all_that_follow_from_it(here: Dogana, cup: Path) -> None:
    swiss = cup.with_name("swiss")
    assert len(list((swiss / "records").glob("round2-*"))) == 2
    (swiss / "records" / f"{FIRST}.jsonl").unlink()
    [found] = problems(here, "swiss")
    assert f"result.json has a record of {FIRST}" in found
    (swiss / "result.json").unlink()
    [found] = problems(here, "swiss")
    assert f"has matches of later rounds, but no record of {FIRST}; put back what was removed" in found
    (swiss / "records" / "extra.jsonl").write_text("{}")
    assert any("extra.jsonl belongs to no match of this tournament" in found for found in problems(here, "swiss"))


def test_a_run_does_not_decide_again_what_was_decided(dogana: Dogana, cup: Path) -> None:
    remove_a_record(cup)
    said = dogana("tournament", "run", "cup", status=1).stderr
    assert f"result.json has a record of {FIRST}" in said
    assert "put it back, or remove " in said
    assert not (cup / "records" / f"{FIRST}.jsonl").exists()
