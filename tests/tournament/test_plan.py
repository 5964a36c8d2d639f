"""The file of a tournament: each mistake is one line that says what to do."""

from __future__ import annotations

import json

import pytest

from referee.tournament.plan import EntrantLimits, Preliminary, TournamentError, facts, read_plan, size_problem
from tests.tournament.played import FILE, plan_for, play_out

PLAIN = FILE.format(format="round-robin", seats=2, blocks=2)
TWO = '[[entrants]]\nname = "a"\nseat = "greedy"\n[[entrants]]\nname = "b"\nseat = "random"\n'


def test_a_plain_file_is_read_with_the_usual_rules() -> None:
    plan = read_plan(PLAIN + TWO, "cup.toml")
    assert plan.names == ["a", "b"]
    assert [one.value for one in plan.tie_breaks] == ["head-to-head", "score-difference", "last-seat-wins", "lots"]
    assert (plan.faults.value, plan.scoring.value, plan.balance.value) == ("forfeit", "wins", "exact")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "cup.toml is not TOML"),
        (f"blokcs = 3\n{PLAIN}{TWO}", "cup.toml has no entry 'blokcs' (did you mean blocks?)"),
        (PLAIN + 'option = 1\n' + TWO, "cup.toml.games[0] has no entry 'option' (did you mean options?); its entries are: game, options"),
        (PLAIN + TWO + 'nam = "c"\n', "cup.toml.entrants[1] has no entry 'nam' (did you mean name?)"),
        (PLAIN + TWO + "[isolation]\nmemroy = 64\n", "cup.toml.isolation has no entry 'memroy' (did you mean memory?)"),
        (PLAIN.replace("seats = 2", "seats = 9") + TWO, "cup.toml.seats must be an integer from 2 to 5, not 9"),
        (PLAIN.replace("round-robin", "ladder") + TWO, "cup.toml.format"),
        (PLAIN.replace("60+0.5/10", "soon") + TWO, "cup.toml.clock cannot be read: 'soon' is not a clock; write bank+increment/cap"),
        (PLAIN.replace("60+0.5/10", "0+0/10") + TWO, "cup.toml.clock cannot be read: clock 0+0/10 leaves no time to answer; its cap,"),
        (PLAIN.replace("60+0.5/10", "60+1/0") + TWO, "clock 60+1/0 leaves no time to answer; its cap, and its bank or its increment, must be"),
        (PLAIN.replace("60+0.5/10", "-1+1/1") + TWO, "'-1+1/1' is not a clock"),
        (PLAIN.replace('"60+0.5/10"', "60") + TWO, "cup.toml.clock must be a string, not 60"),
        (PLAIN.replace("seed = 7", "seed = -1") + TWO, "cup.toml.seed must be an integer from 0 to 4611686018427387904, not -1"),
        (PLAIN.replace("seed = 7", f"seed = {2**62 + 1}") + TWO, "cup.toml.seed must be an integer from 0 to 4611686018427387904, not 46"),
        (PLAIN.replace("seed = 7", "seed = 7.0") + TWO, "cup.toml.seed must be an integer"),
        (PLAIN.replace("[[games]]", "[games]") + TWO, "cup.toml.games is a single table: write [[games]] above each of its tables"),
        (PLAIN + "[entrants]\nname = 'a'\nseat = 'greedy'\n", "cup.toml.entrants is a single table: write [[entrants]]"),
        (PLAIN, "cup.toml.entrants is missing"),
        ("", "cup.toml.format is missing"),
        (PLAIN + TWO.replace('"b"', '"\\u001b[31mb"'), "cup.toml.entrants[1].name must have 1 to 40 characters that can be printed, and no space"),
        (PLAIN + TWO.replace('"b"', '" b"'), "and no space at its ends, not ' b'"),
        (PLAIN + TWO.replace('"b"', '""'), "and no space at its ends, not ''"),
        (PLAIN + TWO.replace('"b"', f'"{"x" * 5000}"'), f"not '{'x' * 41}'"),
        (f'"{"x" * 5000}" = 1\n{PLAIN}{TWO}', f"cup.toml has no entry '{'x' * 40}'; its entries are: title, format"),
        (PLAIN + TWO.replace('"b"', '"a"'), "entrant a is named twice"),
        (PLAIN.replace("seats = 2", "seats = 3") + TWO, "tables of 3 need 3 entrants, and the tournament has 2"),
        (PLAIN + TWO + "host = true\n", "host = true is for format gauntlet, not round-robin"),
        (PLAIN.replace("round-robin", "gauntlet") + TWO, "a gauntlet at tables of 2 needs 1 hosts, and 0 have host = true"),
        (
            'balance = "near"\n' + PLAIN.replace("round-robin", "gauntlet") + TWO + "host = true\n",
            "balance is for format round-robin, not gauntlet",
        ),
        ('scoring = "score"\n' + PLAIN + '[[games]]\ngame = "yunnan"\n' + TWO, "adds up points of different games"),
        (PLAIN + '[[games]]\ngame = "cargo_noir"\n' + TWO, "has a game twice"),
        ('tie_breaks = ["lots", "lots"]\n' + PLAIN + TWO, "tie_breaks"),
        (PLAIN + "[[entrants]]\nname = 'c'\nseat = 'c'\njoined = true\n" + TWO, "joined = true must stand after all others"),
        (PLAIN + TWO + "joined = true\n", "it needs 2 entrants without it"),
        (
            PLAIN.replace("round-robin", "gauntlet") + TWO.replace('"b"', '"b"\nhost = true\njoined = true') + TWO.replace('"a"', '"c"').replace('"b"', '"d"\nhost = true'),
            "b cannot join as a host",
        ),
        ("qualify = 2\n" + PLAIN.replace("round-robin", "knockout") + TWO, "qualify is for a knockout with a preliminary"),
        (
            'preliminary = "swiss"\nqualify = 9\n' + PLAIN.replace("round-robin", "knockout") + TWO,
            "qualify = 9: from 2 to all 2 entrants can go on to the knockout",
        ),
        ('rounds = 3\n' + PLAIN.replace("round-robin", "knockout") + TWO, "rounds is for format swiss, not knockout"),
        ('preliminary = "swiss"\n' + PLAIN + TWO, "preliminary is for format knockout, not round-robin"),
        (
            PLAIN.replace("blocks = 2", "blocks = 10000") + "".join(f"[[entrants]]\nname = 'e{number}'\nseat = 'e{number}'\n" for number in range(11)),
            "a tournament has at most 1,000,000 matches, and this one at least 1,100,000: lower blocks, or leave out entrants",
        ),
        ("wait = 0\n" + PLAIN + TWO, "wait must be a number from 0.1 to 86400"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_one_line(text: str, said: str) -> None:
    with pytest.raises(TournamentError) as caught:
        read_plan(text, "cup.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["<b>x</b>", "[red]x[/]", "../x", "a/b", "Ann & Bob", "안", "x" * 40])
def test_a_name_may_have_all_that_can_be_printed(name: str) -> None:
    assert read_plan(PLAIN + TWO.replace('"b"', json.dumps(name, ensure_ascii=False)), "").names == ["a", name]


def test_what_may_change_is_no_fact() -> None:
    free = 'title = "x"\nwait = 20\ndirectory = ".."\n# more\n'
    assert facts(read_plan(free + PLAIN + TWO, "")) == facts(read_plan(PLAIN + TWO, ""))
    assert facts(read_plan(PLAIN.replace("blocks = 2", "blocks = 3") + TWO, "")) != facts(read_plan(PLAIN + TWO, ""))


def test_the_limits_of_the_sandbox_are_read() -> None:
    table = '[isolation]\nmemory = 64\ntasks = 32\ncpus = 0.5\npondering = false\nruntimes = ["/opt"]\n'
    assert read_plan(PLAIN + TWO + table, "").isolation == EntrantLimits(False, 64, 32, 0.5, False, ("/opt",))


def test_a_game_with_two_sets_of_options_has_a_label_for_each() -> None:
    second = '[[games]]\ngame = "cargo_noir"\noptions = { last_turn = 4 }\n'
    assert [one.label for one in read_plan(PLAIN + second + TWO, "").games] == ["cargo_noir", "cargo_noir-2"]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
@pytest.mark.parametrize("form", ["round-robin", "swiss", "gauntlet", "knockout"])
def test_the_limit_of_matches_never_refuses_a_smaller_tournament(form: str, seats: int) -> None:
    for entrants in range(seats, 14):
        plan = plan_for(entrants, seats=seats, form=form, blocks=1, hosts=seats - 1 if form == "gauntlet" else 0)
        matches = len(play_out(plan))
        assert size_problem(plan, matches) == ""
        if form in ("swiss", "gauntlet"):
            assert "at most" in size_problem(plan, matches - 1)


@pytest.mark.parametrize("preliminary", [Preliminary.SWISS, Preliminary.ROUND_ROBIN])
def test_the_limit_of_matches_counts_the_rounds_before_a_knockout(preliminary: Preliminary) -> None:
    plan = plan_for(12, form="knockout", preliminary=preliminary, qualify=4, rounds=3)
    matches = len(play_out(plan))
    assert size_problem(plan, matches) == ""
    assert "at most" in size_problem(plan, matches // 2)
