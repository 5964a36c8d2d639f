"""The output of a comparison: its progress, the seats that were put out, its JSON, and the five lines at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from rich.progress import Progress, TextColumn

from referee.commands.comparison_plan import ComparisonPlan
from referee.commands.output import err, out, print_json
from referee.live.matches.series import FinishedMatch, Series
from referee.match.result import Outcome
from referee.registry import find
from referee.terminal import counted
from referee.verdict.block import BlockScore, mean_score, score
from referee.verdict.sequential import MIN_BLOCKS, Conclusion, SequentialTest
from referee.version import installed_version

_LAST_WORDS = 2_000
"""The maximum number of characters of a bot's output that are shown."""
_GROWTH = 1.25
"""The factor by which the number of blocks grows between two lines of progress if there is no terminal."""


@dataclass(slots=True)
class Report:
    """The findings of a comparison so far."""

    plan: ComparisonPlan
    series: Series
    test: SequentialTest
    as_json: bool
    scores: list[BlockScore] = field(default_factory=list)
    """The score of each block that counts as evidence."""
    by_game: dict[str, list[float]] = field(default_factory=dict)
    """The difference in each block that counts as evidence, by game."""
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    """The number of times that each bot was put out, by reason."""
    _next_line: int = 1

    def add(self, matches: Sequence[FinishedMatch]) -> None:
        """Add the matches of the next block."""
        lost = [seat for match in matches for seat in self._lost_seats(match)]
        scores, first = [], 0
        # The matches of a block come game by game, each in all seatings.
        for setting in self.series.settings:
            results = [match.result for match in matches[first : first + len(setting.seatings)]]
            scores.append(score(results, setting.seatings))
            first += len(setting.seatings)
        block = mean_score(scores)
        is_evidence = self.test.add(block)
        if is_evidence:
            self.scores.append(block)
            for setting, one in zip(self.series.settings, scores, strict=True):
                self.by_game.setdefault(setting.game, []).append(one.difference)
        if self.as_json:
            print_json(self._block_as_json(matches, block, lost, is_evidence=is_evidence))

    def _lost_seats(self, match: FinishedMatch) -> list[dict[str, Any]]:
        """Count and print the seats that were put out in a match."""
        found = []
        places = self.series.fixture(match.number).seating
        for place, seat in zip(places, match.result.seats, strict=True):
            if seat.outcome is not Outcome.PLAYED:
                word, reason = self.plan.words[place], f"{seat.outcome.value}: {seat.detail}"
                known = self.lost.setdefault(word, Counter())
                known[reason] += 1
                game = match.plan.game.name
                found.append({"game": game, "bot": word, "seat": seat.seat, "reason": reason})
                err.print(f"{word}, seat {seat.seat}, was put out in {match.name} ({reason})", soft_wrap=True)
                # Only the first time, because a bot that fails in every match prints the same each time.
                if known.total() == 1:
                    _print_last_words(match.logs.get(seat.seat, ""))
        return found

    def _block_as_json(
        self, matches: Sequence[FinishedMatch], block: BlockScore, lost: list[dict[str, Any]], *, is_evidence: bool
    ) -> dict[str, Any]:
        return {
            "block": self.test.blocks,
            "seed": matches[0].plan.seed,
            "matches": len(matches),
            "digests": list(block.key),
            "new": round(block.new, 6),
            "old": round(block.old, 6),
            "difference": round(block.difference, 6),
            "evidence": is_evidence,
            "lost": lost,
            **self._standing(),
        }

    def _standing(self) -> dict[str, Any]:
        low, high = self.test.interval
        return {
            "mean": round(self.test.mean, 6),
            "interval": [round(low, 6), round(high, 6)],
            "llr": round(self.test.ratio, 6),
            "bounds": [round(bound, 6) for bound in self.test.terms.bounds],
        }

    @property
    def matches(self) -> int:
        """The number of matches in all blocks."""
        return self.test.blocks * self.series.block_size

    def progress(self) -> str:
        """Return the line that shows the progress."""
        return f"{self.played()}: {_difference(self.test)}, {_ratio(self.test)}, {self._left()}"

    def _left(self) -> str:
        """Return the expected number of further matches, in words."""
        if self.test.blocks_left is None:
            return "too few to tell how many are left"
        low, high = (_rounded(blocks * self.series.block_size) for blocks in self.test.blocks_left)
        return f"about {low:,} matches left" if low == high else f"about {low:,} to {high:,} matches left"

    def played(self) -> str:
        """Return the numbers of blocks and matches played, in words."""
        blocks, repeats = self.test.blocks, self.test.blocks - self.test.different
        repeated = f" ({repeats} repeated)" if repeats else ""
        return f"{counted(blocks, 'block')}{repeated}, {counted(self.matches, 'match', 'matches')}"

    def print_progress(self, bar: Progress) -> None:
        """Show the progress: in a terminal after each block, otherwise at growing intervals."""
        if self.test.blocks == MIN_BLOCKS and self.test.is_alike:
            err.print(f"both have played identically in {MIN_BLOCKS} blocks: are they the same?", soft_wrap=True)
        if self.test.conclusion is not None:
            return
        # This is printed once, as soon as the deviation of a block is known well enough.
        if self.test.blocks == MIN_BLOCKS and self._is_beyond_maximum():
            err.print(
                f"{self._blocks_for_margin()}; only a larger difference shows in the {self.plan.max_blocks:,} of --max",
                soft_wrap=True,
            )
        if err.is_terminal:
            bar.update(bar.task_ids[0], description=self.progress())
        elif self.test.blocks >= self._next_line:
            self._next_line = max(10, int(self.test.blocks * _GROWTH) + 1)
            err.print(self.progress(), soft_wrap=True)

    def print_end(self) -> None:
        """Print the five lines of the report, or the JSON object with the verdict."""
        if self.as_json:
            print_json(self._verdict_as_json())
        elif self.test.blocks:
            for line in self.lines():
                out.print(line, soft_wrap=True)

    def _verdict_as_json(self) -> dict[str, Any]:
        plan, terms = self.plan, self.test.terms
        return {
            "verdict": None if self.test.conclusion is None else self.test.conclusion.value,
            "new": plan.new,
            "old": plan.old,
            "others": plan.others,
            "files": plan.files,
            "games": plan.games,
            "seats": plan.seats,
            "field": plan.is_field,
            "clock": plan.clock,
            "seed": plan.seed,
            "blocks": self.test.blocks,
            "different": self.test.different,
            "matches": self.matches,
            "share_new": _mean([one.new for one in self.scores]),
            "share_old": _mean([one.old for one in self.scores]),
            "by_game": {game: _mean(values) for game, values in self.by_game.items()},
            "deviation": round(self.test.deviation, 6),
            "margin": terms.margin.size,
            "margin_in_deviations": terms.margin.in_deviations,
            "alpha": terms.alpha,
            "beta": terms.beta,
            "lost": {word: dict(reasons) for word, reasons in self.lost.items()},
            **self._standing(),
        }

    def lines(self) -> list[str]:
        """Return the five lines for a pull request."""
        return [self._verdict_line(), self._terms_line(), self._blocks_line(), self._test_line(), self._lost_line()]

    def _verdict_line(self) -> str:
        new, old = (self._named(word) for word in (self.plan.new, self.plan.old))
        match self.test.conclusion:
            case Conclusion.BETTER:
                said = f"better: {new} is better than {old}"
            case Conclusion.NOT_BETTER:
                said = f"not better: {new} is not better than {old} by the margin"
            case Conclusion.IDENTICAL:
                said = f"identical play: {new} and {old} play identically"
            case Conclusion.UNDECIDED if self.test.is_repeating:
                said = f"undecided: all further matches of {new} and {old} repeat earlier ones; --openings varies them"
            case Conclusion.UNDECIDED:
                said = f"undecided: the blocks of --max are too few to say whether {new} is better than {old}"
                said += f"; {self._blocks_for_margin()}" if self._is_beyond_maximum() else ""
            case None:
                said = f"none yet: more blocks have to say whether {new} is better than {old}"
        return f"verdict  {said}"

    def _is_beyond_maximum(self) -> bool:
        return self.test.is_close and self.test.blocks_for_margin > self.plan.max_blocks

    def _blocks_for_margin(self) -> str:
        return f"versions that differ by the margin take about {_rounded(self.test.blocks_for_margin):,} blocks"

    def _named(self, word: str) -> str:
        found = self.plan.files.get(word)
        return f"{word} [{found[:8]}]" if found else word

    def _terms_line(self) -> str:
        plan = self.plan
        titles = " and ".join(find(game).title for game in plan.games)
        others = ", ".join(dict.fromkeys(plan.others))
        where = (
            f", each alone among {others}" if plan.is_field else " at one table" + (f" with {others}" if others else "")
        )
        options = "".join(f", {name}={value}" for name, value in plan.options.items())
        return (
            f"matches  {titles}{options}: {plan.seats} seats{where}; clock {plan.clock}, seed {plan.seed},"
            f" dogana {installed_version()}"
        )

    def _blocks_line(self) -> str:
        new, old = _mean([one.new for one in self.scores]), _mean([one.old for one in self.scores])
        games = ""
        if len(self.by_game) > 1:
            each = ", ".join(f"{find(game).title} {fmean(values):+.1%}" for game, values in self.by_game.items())
            games = f" [{each}]"
        return f"beaten   {new:.1%} and {old:.1%} of rivals; {_difference(self.test)}{games}; {self.played()}"

    def _test_line(self) -> str:
        terms = self.test.terms
        unit = " deviations of a block" if terms.margin.in_deviations else ""
        return (
            f"test     {_ratio(self.test)}; a difference of {terms.margin.size:g}{unit} against 0,"
            f" alpha {terms.alpha:g}, beta {terms.beta:g}"
        )

    def _lost_line(self) -> str:
        each = [
            f"{word} {reasons.total()} ({'; '.join(f'{number} {reason}' for reason, number in reasons.most_common())})"
            for word, reasons in self.lost.items()
        ]
        return f"lost     {', '.join(each) if each else 'no seat'}"


def bar() -> Progress:
    """Return the line that shows the progress in a terminal."""
    progress = Progress(TextColumn("{task.description}"), console=err, transient=True, disable=not err.is_terminal)
    progress.add_task("the first block")
    return progress


def _difference(test: SequentialTest) -> str:
    low, high = test.interval
    return f"difference {test.mean:+.1%} (95 %: {low:+.1%} to {high:+.1%})"


def _rounded(number: int) -> int:
    """Round an estimate to two significant digits."""
    return int(float(f"{number:.1e}"))


def _ratio(test: SequentialTest) -> str:
    low, high = test.terms.bounds
    return f"LLR {test.ratio:+.2f} ({low:.2f} to {high:+.2f})"


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), 6) if values else 0.0


def _print_last_words(log: str) -> None:
    if log:
        err.print("it wrote at the end:", style="bold")
        for line in log[-_LAST_WORDS:].splitlines():
            err.print(f"  | {line}", soft_wrap=True)
