"""docs/forward_model.md works: its programs run as they stand, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from referee.kit.chance import FastChance
from referee.live.messages.codec import codec
from referee.records.verify import verify
from referee.registry import find, shipped_board

PAGE = Path(__file__).parents[2] / "docs" / "forward_model.md"


def question() -> SimpleNamespace:
    """A decision as the SDK hands it over, as far as the last program looks at it."""
    game = find("yunnan")
    board = shipped_board(game)
    setup = game.setup(2, {}, board)
    state = game.start(setup, FastChance(3))
    (seat,) = state.seats_to_act()
    translation = codec(game)
    return SimpleNamespace(
        match=SimpleNamespace(game="yunnan", seats=2, seat=seat, options=setup.options, board=board),
        action_count=len(state.legal_actions(seat)),
        message=SimpleNamespace(
            observation=SimpleNamespace(value=translation.observation_bytes(state.observation(seat))),
            actions=SimpleNamespace(value=translation.actions_bytes(state.legal_actions(seat))),
        ),
    )


def test_every_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for program in programs:
        exec(program, names)  # noqa: S102 it is our own page
    assert len(programs) == 5
    assert verify(tmp_path / "match.jsonl", find).plan.bots == ["first_choice", "greedy", "random"]
    choose = cast("Callable[[object], int]", names["choose"])
    decision = question()
    assert choose(decision) in range(decision.action_count)
    assert capsys.readouterr().out.count("\n") == 3
