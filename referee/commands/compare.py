"""`dogana compare`: is a new version of a bot better than the old one?"""

from __future__ import annotations

import math
import secrets
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from referee.commands.bot_terms import BotTerms, check_travels, play_matches
from referee.commands.comparison_plan import (
    ComparisonError,
    ComparisonPlan,
    check_different,
    fingerprints,
    in_folder,
    read_comparison,
    write_conclusion,
)
from referee.commands.comparison_report import Report, bar
from referee.commands.options import (
    DEFAULT_CLOCK,
    CpusOption,
    GameOptions,
    IsolateOption,
    JoinOption,
    MatchClockOption,
    MatchWorkersOption,
    MemoryOption,
    NoPonderingOption,
    OpeningsOption,
    RayOption,
    ResumeOption,
    RuntimeOption,
    SeedOption,
    TasksOption,
    read_clock,
    read_options,
    with_openings,
)
from referee.commands.output import err, target
from referee.commands.seats import REMOTE, SEAT_HELP, read_player
from referee.errors import DoganaError
from referee.files import in_words, make_folder
from referee.live.matches.play import Player
from referee.live.matches.series import FinishedMatch
from referee.registry import find, shipped_board
from referee.verdict.likelihood import Margin
from referee.verdict.sequential import MIN_BLOCKS, Conclusion, SequentialTest

NOT_BETTER, UNDECIDED, FAILED = 1, 2, 4
"""Exit statuses; docs/writing_a_bot.md lists all of them."""
_STATUSES = {
    Conclusion.BETTER: 0,
    Conclusion.NOT_BETTER: NOT_BETTER,
    Conclusion.IDENTICAL: NOT_BETTER,
    Conclusion.UNDECIDED: UNDECIDED,
}
_MARGIN, _ERROR, _MAX_BLOCKS, _OTHER = "0.05", 0.05, 2_000, "greedy"
_DEVIATIONS = "sd"
_MOST_BLOCKS = 1_000_000


def compare(
    context: typer.Context,
    new: Annotated[
        str | None,
        typer.Argument(
            help=f"The new version: {SEAT_HELP.removesuffix(' or remote')}. With --resume alone: the folder.",
            metavar="NEW",
            show_default=False,
        ),
    ] = None,
    old: Annotated[str | None, typer.Argument(help="The old version.", metavar="OLD", show_default=False)] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="The game; may be given several times for a verdict over all of them, with equal weight.",
            metavar="GAME",
        ),
    ] = None,
    seats: Annotated[
        int | None, typer.Option(help="The number of seats.", show_default="2", min=2, max=64, metavar="NUMBER")
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(help="The bot in the other seats; give it once for all of them, or once for each.", metavar="BOT"),
    ] = None,
    field: Annotated[
        bool,
        typer.Option("--field", help="Seat each version alone among --others: which one is better there?"),
    ] = False,
    margin: Annotated[
        str | None,
        typer.Option(
            help="The smallest improvement to detect: in shares of rivals beaten, or in standard deviations of a block (0.3sd).",
            show_default=_MARGIN,
            metavar="NUMBER",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help='The probability of "better" if both are equal.', show_default=str(_ERROR), metavar="NUMBER"),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            help='The probability of "not better" if the new version is better by the margin.',
            show_default=str(_ERROR),
            metavar="NUMBER",
        ),
    ] = None,
    max_blocks: Annotated[
        int | None,
        typer.Option(
            "--max",
            help=f"The maximum number of blocks, {MIN_BLOCKS} or more.",
            show_default=str(_MAX_BLOCKS),
            metavar="NUMBER",
        ),
    ] = None,
    seed: SeedOption = None,
    option: GameOptions = None,
    openings: OpeningsOption = None,
    clock: MatchClockOption = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Keep the records in this folder, so that --resume can continue.", metavar="PATH", parser=target
        ),
    ] = None,
    resume: ResumeOption = False,
    workers: MatchWorkersOption = None,
    wait: JoinOption = None,
    isolate: IsolateOption = False,
    memory: MemoryOption = None,
    tasks: TasksOption = None,
    cpus: CpusOption = None,
    no_pondering: NoPonderingOption = False,
    runtime: RuntimeOption = None,
    ray: RayOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each block, and one for the verdict.")
    ] = False,
) -> None:
    """Find out whether a new version of a bot is better.

    NEW and OLD play against each other with the same luck, block after block, until one answer is probable enough. A
    block is one seed, in all rotations of the seats, and with NEW and OLD exchanged. `dogana ladder compare` shows what
    a ladder knows about two bots; this command plays.

    The exit status is 0 if NEW is better, 1 if it is not better or plays identically, 2 if that is undecided (and if
    the command line cannot be read, with nothing on standard output), and 4 if the versions could not be compared, for
    example because there is no such game.

    Examples:

      dogana compare greedy random --game venezia

      dogana compare new.py old.py --game cargo_noir --margin 0.1 --record comparison

      dogana compare --resume comparison

      dogana compare new.py old.py --game cargo_noir --game venezia --seats 3 --json

      dogana compare new.py old.py --game venezia --seats 4 --others greedy --others random --others greedy --field
    """
    with _status_of_errors():
        terms = BotTerms(wait, isolate, memory, tasks, cpus, no_pondering, [*map(str, runtime)] if runtime else None)
        if resume:
            record = _folder_to_resume(context, new, record)
            plan = read_comparison(record)
            plan = replace(plan, max_blocks=_read_max(plan.max_blocks if max_blocks is None else max_blocks))
        else:
            if new is None or old is None or not game:
                raise typer.BadParameter(
                    "name both versions and a game, such as: dogana compare new.py old.py --game GAME; or --resume and a folder",
                    param_hint="NEW OLD",
                )
            check_different(new, old)
            filled = _fill(others, seats or 2, is_field=field)
            size = _read_margin(margin or _MARGIN)
            plan = ComparisonPlan(
                **asdict(terms),
                new=new,
                old=old,
                others=filled,
                files=fingerprints([new, old, *filled]),
                games=_read_games(game),
                options=read_options(with_openings(option or [], openings)),
                # With the boards' numbers, --resume plays on the same boards even after an update of Dogana.
                boards={name: dict(shipped_board(find(name))) for name in game},
                is_field=field,
                clock=str(read_clock(clock or DEFAULT_CLOCK)),
                seed=secrets.randbits(62) if seed is None else seed,
                margin=size.size,
                in_deviations=size.in_deviations,
                alpha=_read_error("--alpha", alpha),
                beta=_read_error("--beta", beta),
                max_blocks=_read_max(_MAX_BLOCKS if max_blocks is None else max_blocks),
                directory=str(Path.cwd()),
                conclusion="",
            )
        _check_can_end(plan)
        _play(context, plan, record, resumes=resume, workers=workers, ray=ray, as_json=as_json)


@contextmanager
def _status_of_errors() -> Iterator[None]:
    """Exit with status 4 if the versions cannot be compared, because 1 is an answer here."""
    try:
        yield
    # The reader of the output has gone, which says nothing about the versions.
    except BrokenPipeError:
        raise
    except (DoganaError, OSError) as error:
        # An error without a file name is not about one of the user's files. It is a bug, which needs its traceback.
        if isinstance(error, OSError) and error.filename is None:
            raise
        err.print(f"dogana: {' '.join(in_words(error).split())}", soft_wrap=True)
        raise typer.Exit(FAILED) from error


def _folder_to_resume(context: typer.Context, new: str | None, record: Path | None) -> Path:
    """Return the folder of the comparison to resume.

    Raises:
        ComparisonError: if no folder is given, or another option describes a comparison.
    """
    if new is None and record is None:
        raise ComparisonError("--resume needs the folder of a comparison: `dogana compare --resume FOLDER`")
    folder = target(new or "") if record is None else record
    # The parser knows the options that were typed; a value alone, such as --seed 0, does not show that.
    allowed = {"new" if record is None else "record", "resume", "max_blocks", "workers", "ray", "as_json"}
    given = [
        parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.name).upper()
        for parameter in context.command.params
        if parameter.name not in allowed
        and str(context.get_parameter_source(str(parameter.name))).endswith("COMMANDLINE")
    ]
    if given:
        raise ComparisonError(f"cannot resume: {folder} has the whole comparison; leave out {', '.join(given)}")
    return folder


def _fill(others: Sequence[str] | None, seats: int, *, is_field: bool) -> list[str]:
    """Return the players of the remaining seats.

    Raises:
        ComparisonError: if the number of these players does not fit the number of seats.
    """
    free = seats - (1 if is_field else 2)
    named = list(others or [_OTHER] * free)
    if others and not free:
        raise ComparisonError(f"{seats} seats leave none for --others; raise --seats, or add --field")
    if others and len(named) not in (1, free):
        raise ComparisonError(
            f"{seats} seats leave {free} for --others, not {len(named)}; name one for all of them, or one for each"
        )
    return named * free if len(named) == 1 else named


def _read_games(names: Sequence[str]) -> list[str]:
    """Check the names of games.

    Raises:
        ComparisonError: if a game is given twice.
        UnknownGame: if there is no such game.
    """
    for name in names:
        if names.count(name) > 1:
            raise ComparisonError(f"--game {name} is given twice")
    return [find(name).name for name in names]


def _read_margin(text: str) -> Margin:
    """Read a margin; refuse a margin that no difference can reach.

    Raises:
        BadParameter: if the margin is not between 0 and 1.
    """
    in_deviations = text.endswith(_DEVIATIONS)
    try:
        size = float(text.removesuffix(_DEVIATIONS))
    except ValueError:
        size = math.nan  # neither above 0 nor below 1
    if not 0 < size < 1:
        raise typer.BadParameter("must be more than 0 and less than 1, such as 0.05 or 0.3sd", param_hint="'--margin'")
    return Margin(size, in_deviations)


def _read_error(name: str, probability: float | None) -> float:
    """Read the probability of an error.

    Raises:
        BadParameter: if the probability is not between 0 and 0.5.
    """
    if probability is None:
        return _ERROR
    if not 0 < probability < 0.5:
        raise typer.BadParameter("must be more than 0 and less than 0.5", param_hint=f"'{name}'")
    return probability


def _read_max(blocks: int) -> int:
    """Read the maximum number of blocks.

    Raises:
        BadParameter: if the number is out of range.
    """
    if not MIN_BLOCKS <= blocks <= _MOST_BLOCKS:
        raise typer.BadParameter(f"must be {MIN_BLOCKS} to {_MOST_BLOCKS}", param_hint="'--max'")
    return blocks


def _check_can_end(plan: ComparisonPlan) -> None:
    """Check that the maximum number of blocks is enough for a conclusion.

    Raises:
        BadParameter: if the test would not end even if one version won every block.
    """
    if not plan.terms.can_end:
        raise typer.BadParameter(
            f"{plan.max_blocks} blocks are too few for --alpha {plan.alpha:g} and --beta {plan.beta:g}, even if one version wins"
            " all of them; raise it, or take larger probabilities",
            param_hint="'--max'",
        )


def _play(
    context: typer.Context,
    plan: ComparisonPlan,
    folder: Path | None,
    *,
    resumes: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
) -> NoReturn:
    """Play a comparison to its end, and exit with its status."""
    players = _players(context, plan, ray)
    if ray is not None:
        check_travels(players, isolate=plan.isolate)
    if folder is not None:
        make_folder(folder)
    series = plan.series(players, folder, resumes=resumes)
    report = Report(plan, series, SequentialTest(plan.terms), as_json)
    again = [*([] if ray is None else ["--ray", ray]), *([] if workers is None else ["--workers", workers])]
    with in_folder(folder, plan, resumes=resumes, options=[*again, *(["--json"] if as_json else [])]):
        _play_blocks(report, play_matches(series, plan, workers, ray))
        if folder is not None:
            # This comes before the lock is released, so that no other command begins in between.
            write_conclusion(folder, plan, report.test.conclusion)
    raise typer.Exit(UNDECIDED if report.test.conclusion is None else _STATUSES[report.test.conclusion])


def _players(context: typer.Context, plan: ComparisonPlan, ray: str | None) -> list[Player]:
    """Read the words for all players of a comparison.

    Raises:
        DoganaError: if a player cannot play one of the games.
    """
    sandbox = plan.sandbox(ray)
    if REMOTE in plan.words:
        raise ComparisonError("a remote agent joins one match; name bots that this machine can start")
    players = {
        (word, name): read_player(word, find(name), plan.wait, sandbox, plan.runtimes, ray, context.with_resource)
        for name in plan.games
        for word in dict.fromkeys(plan.words)
    }
    # Each word was read for every game, to check that the bot plays it; the players of a word are all alike.
    return [players[word, plan.games[0]] for word in plan.words]


def _play_blocks(report: Report, played: Generator[FinishedMatch, None, None]) -> None:
    """Play blocks until there is a conclusion; print the findings at the end, even after an interruption."""
    block: list[FinishedMatch] = []
    try:
        with closing(played) as matches, bar() as progress:
            for match in matches:
                block.append(match)
                if len(block) < report.series.block_size:
                    continue
                report.add(block)
                report.print_progress(progress)
                block = []
                if report.test.conclusion is not None:
                    break
    finally:
        # This is printed even after Ctrl-C, because the results so far are worth showing.
        report.print_end()
