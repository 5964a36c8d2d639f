"""`dogana ladder recompute`."""

from __future__ import annotations

import re
import secrets
from typing import Annotated

import typer

from ladder.archive.recompute import Comparison, Sample, compare
from ladder.archive.recompute import repair as compare_and_repair
from ladder.commands.options import AsJson, HomeOption
from ladder.facts.store import Store
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from referee.commands.output import out, print_json
from referee.terminal import counted

_STATUS_SAMPLE = 3
"""The exit status of a comparison that has found no differences but has not verified all records."""


def recompute(
    home: HomeOption,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Replace everything that does not follow from the log, if all records are valid."
        ),
    ] = False,
    count_lost: Annotated[
        bool,
        typer.Option(
            "--count-lost",
            help="With --repair: note records that are missing or do not hold as lost for good. Their matches count on as"
            " the ladder has them.",
        ),
    ] = False,
    sample: Annotated[
        str | None,
        typer.Option(help="Verify only this many records, or this share of them: 1000, or 5%.", metavar="NUMBER|SHARE"),
    ] = None,
    sample_seed: Annotated[
        int | None,
        typer.Option(
            help="With --sample: the seed that selects the records; drawn if left out.", min=0, metavar="NUMBER"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify all records, rebuild the ratings, and compare.

    Ratings, standings, schedule and results are rebuilt from the audit log. Nothing is changed without --repair, so a
    run may go on meanwhile. The exit status is 0 only if everything agrees, to the last digit; with --repair it depends on the
    differences found, not on those left. Records marked as lost are listed each time, but no longer count as a
    difference. After an interruption, the next command continues from there.

    With --sample all ratings and tallies are compared, but only some records are verified. If those agree, the exit status is 3.

    Examples:

      dogana ladder recompute

      dogana ladder recompute --repair

      dogana ladder recompute --repair --count-lost

      dogana ladder recompute --sample 5%
    """
    if count_lost and not repair:
        raise LadderError("--count-lost changes the ladder: say --repair, too")
    if sample is not None and repair:
        raise LadderError("--repair needs all records to hold: leave out --sample")
    if sample is None and sample_seed is not None:
        raise LadderError("--sample-seed belongs to --sample: say how many records, such as --sample 1000")
    chosen = None if sample is None else _sample(sample, sample_seed)
    with Store(Home(home).database, create=False) as store:
        if repair:
            found = compare_and_repair(Home(home), store, count_lost=count_lost)
        else:
            found = compare(Home(home), store, chosen)
    if as_json:
        print_json(
            {
                "agrees": not found.problems,
                "matches": found.matches,
                "problems": found.problems,
                "problems_unreported": found.unreported,
                "lost": found.lost.reported,
                "lost_unreported": found.lost.count - len(found.lost.reported),
                "pruned": found.pruned,
                "repaired": found.repaired,
                "whole": not found.left_out,
                "not_verified": found.left_out,
                "verified_before": found.verified_before,
                "sample_seed": None if chosen is None else chosen.seed,
            }
        )
    else:
        _print(found, tried=repair)
        if chosen is not None:
            _print_sample(found, str(sample), chosen)
    if found.problems:
        raise typer.Exit(1)
    if found.left_out:
        raise typer.Exit(_STATUS_SAMPLE)


def _sample(text: str, seed: int | None) -> Sample:
    """Parse the sample; draw a seed for it if none was given.

    Raises:
        LadderError: if it is neither a number nor a share.
    """
    number = re.fullmatch(r"([0-9]{1,9})|([0-9]{1,2}|100|[0-9]{1,2}\.[0-9]{1,6})%", text, re.ASCII)
    # An empty sample would agree with everything.
    if number is None or float(text.removesuffix("%")) == 0:
        raise LadderError(f"{text!r} is not a sample: write how many records, such as 1000, or which share, such as 5%")
    drawn = secrets.randbits(32) if seed is None else seed
    return Sample(drawn, int(number[1])) if number[1] else Sample(drawn, share=float(number[2]) / 100)


def _print_sample(found: Comparison, text: str, sample: Sample) -> None:
    again = f"the same again: --sample {text} --sample-seed {sample.seed}"
    if found.left_out:
        looked_at = found.matches - found.left_out
        line = f"sample: {looked_at:,} of {counted(found.matches, 'record')} were looked at; {found.left_out:,} were NOT; {again}"
    else:
        line = f"sample: it has all {counted(found.matches, 'record')}; {again}"
    out.print(line, markup=False, soft_wrap=True)


def _print(found: Comparison, *, tried: bool) -> None:
    lines = [f"differs: {problem}" for problem in found.problems]
    if found.unreported:
        lines.append(f"differs: {found.unreported:,} more, which are not printed")
    if found.verified_before:
        lines.append(
            f"verified before: {counted(found.verified_before, 'record')}, by a comparison that was broken off; they have not changed since"
        )
    lines += [f"lost: {record}" for record in found.lost.reported]
    if found.lost.count > len(found.lost.reported):
        lines.append(f"lost: {found.lost.count - len(found.lost.reported):,} more, which are not printed")
    if found.pruned:
        lines.append(
            f"pruned: {counted(found.pruned, 'record')}, by the organiser's retention; their matches count as the ladder has them"
        )
    if tried and found.log:
        lines.append(
            "the audit log is never repaired, because others may have copies of it; restore a backup that agrees with it"
        )
    if found.repaired:
        lines.append("repaired: ratings, standings, schedule and results now follow from the log")
        if found.without_record:
            lines.append(
                f"matches that count without a record from now on, as the ladder has them: {found.without_record}"
            )
    elif tried and found.contradicting.count:
        lines.append("nothing was repaired: first restore the records that were counted; others are in their place")
    elif tried and found.without_record:
        lines.append(
            "nothing was repaired: first restore the records that do not hold; if they are lost for good, say"
            " --repair --count-lost, and their matches count on as the ladder has them"
        )
    elif not found.problems and found.left_out:
        lines.append(
            f"{counted(found.matches, 'match', 'matches')}; no record of the sample differs; all ratings agree to the last digit"
        )
    elif not found.problems and (found.lost.count or found.pruned):
        lines.append(
            f"{counted(found.matches, 'match', 'matches')}, {found.lost.count + found.pruned} of them without a record; the others are verified;"
            " all ratings agree to the last digit"
        )
    elif not found.problems:
        lines.append(f"{counted(found.matches, 'match', 'matches')} verified; all ratings agree to the last digit")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
