"""A ladder with rated bots whose files are real; no match is played."""

from __future__ import annotations

from pathlib import Path

from ladder.facts.store import Store
from ladder.intake.submission import submit
from ladder.operation.home import Home
from ladder.play.running import count
from tests.ladder.made import CONDITION, next_matches, result_of

BOT = "from dogana.sdk import play\nplay(lambda decision: 0)\n"
ORDER = ["cem", "ann", "bob"]
"""The bots, best first."""


def rated_ladder(folder: Path) -> Home:
    """A ladder on which three bots have played; the first has an earlier version, and dee has not played."""
    home = Home(folder)
    for number, name in enumerate(["cem", "ann", "bob", "cem"]):
        (folder.parent / f"{name}.py").write_text(f"{BOT}# {number}\n")
        version, _ = submit(home, folder.parent / f"{name}.py", name, f"author-of-{name}")
        with Store(home.database, create=False) as store:
            assert store.roster.condition(CONDITION.game, CONDITION.options, CONDITION.clock) == CONDITION
            store.admission.qualify(version.id, CONDITION, passed=True, reason="")
    (folder.parent / "dee.py").write_text(f"{BOT}# dee\n")
    submit(home, folder.parent / "dee.py", "dee", "author-of-dee")
    with Store(home.database, create=False) as store:
        for seed in range(12):
            for match in next_matches(store, seed):
                order = sorted(match.seats, key=lambda version: (ORDER.index(version.bot), -version.number))
                count(store, match, result_of(match, [1 + order.index(one) for one in match.seats]), match.match_id)
    return home
