"""What people can ask of a ladder, and what they can do to it: a message in, a message out (`proto/dogana/v1/ladder.proto`).

The commands of `dogana ladder` and the service of `dogana ladder serve` are faces of this one desk. It decides who may do and
see what. Text of strangers is handed on as it is; whoever prints it makes it visible.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

from dogana.v1 import ladder_pb2 as pb
from ladder.audit_log import write
from ladder.chronicle import Chronicle, PlayedMatch, Said
from ladder.condition import Condition, agree
from ladder.errors import Forbidden, LadderError
from ladder.home import Home
from ladder.intake import ORGANISER_NAME, check_names, submit
from ladder.key import ladder_key
from ladder.match import Version
from ladder.playing import playing
from ladder.standings import Standing, Status, requalify, retire, standings
from ladder.traces import Log, MatchTraces, bots_in, find_match, last_log, logs_of_match, traces_of
from ladder.upload import Upload
from ladder.waiting import waiting
from referee.commands.options import DEFAULT_CLOCK, read_clock
from referee.game import OptionValue
from referee.records.signature import PublicKey
from referee.registry import find, games

MAX_MATCHES = 1000
"""The greatest number of matches that are listed at a time."""
DEFAULT_MATCHES = 10
PIECE_BYTES = 256 * 1024
"""How many bytes of a file are sent in a message."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks."""

    author: str = ""
    """The author of whose bots they may read logs; empty if they have shown no token."""
    is_organiser: bool = False
    """Whether the ladder is a folder of theirs."""

    @property
    def name(self) -> str:
        """What the list of changes calls them."""
        return ORGANISER_NAME if self.is_organiser else self.author


ORGANISER = Asker(is_organiser=True)
ANYBODY = Asker()


class Desk:
    """The desk of one ladder, for one who asks. Each question sees one moment of the ladder."""

    def __init__(self, home: Home, asker: Asker = ORGANISER) -> None:
        self._home = home
        self._asker = asker

    def _chronicle(self) -> Chronicle:
        return Chronicle(self._home.database, create=False)

    # standings and bots

    def info(self, _: pb.InfoRequest) -> pb.InfoAnswer:
        """Tell which ladder this is."""
        with self._chronicle() as chronicle:
            return pb.InfoAnswer(
                dogana=installed_version("dogana"),
                games=list(games()),
                author=self._asker.author,
                matches=chronicle.count_of_matches(),
            )

    def top(self, request: pb.TopRequest) -> pb.TopAnswer:
        """Return the standings.

        Raises:
            LadderError: if there was a run of the game, but none under such a condition.
            DoganaError: if there is no such game, or it has no such options.
        """
        if request.by_options and not request.game:
            raise LadderError("options are those of one game; name it: dogana ladder top GAME --option K=V")
        names = [find(request.game).name] if request.game else list(games())
        options = agree(find(names[0]), request.options, None).options if request.by_options else None
        clock = str(read_clock(request.clock)) if request.clock else None
        with self._chronicle() as chronicle, chronicle.reading():
            return pb.TopAnswer(
                tables=[
                    pb.Standings(condition=_condition(condition), versions=_table(chronicle, condition))
                    for name in names
                    for condition in _conditions(chronicle, name, clock, options)
                ]
            )

    def bots(self, request: pb.BotsRequest) -> pb.BotsAnswer:
        """Return every bot with its newest version, by name.

        Raises:
            DoganaError: if there is no such game.
        """
        game = find(request.game).name if request.game else None
        with self._chronicle() as chronicle, chronicle.reading():
            newest = {version.bot: version for version in chronicle.versions().values()}
            places: dict[Version, list[pb.Standing]] = {
                newest[bot]: [] for bot in sorted(newest) if game is None or game in newest[bot].games
            }
            for condition in chronicle.conditions().values():
                if game in (None, condition.game):
                    for one in standings(chronicle, condition):
                        if one.version in places:
                            places[one.version].append(_standing(condition, one))
        return pb.BotsAnswer(
            bots=[
                pb.Bot(bot=version.bot, version=version.number, author=version.author, standings=found)
                for version, found in places.items()
            ]
        )

    def show(self, request: pb.ShowRequest) -> pb.ShowAnswer:
        """Return a bot: its versions, and how the last of them has fared.

        Raises:
            LadderError: if there is no such bot.
        """
        with self._chronicle() as chronicle, chronicle.reading():
            versions = chronicle.find_versions(request.bot)
            submitted = chronicle.submitted_at()
            places = [
                (condition, one)
                for condition in chronicle.conditions().values()
                for one in standings(chronicle, condition)
                if one.version in versions
            ]
            newest = versions[-1]
            return pb.ShowAnswer(
                bot=newest.bot,
                author=newest.author,
                versions=[
                    pb.Submitted(
                        version=version.number,
                        content_hash=version.content_hash,
                        submitted_at=submitted[version.id],
                        games=version.games,
                        standings=[_standing(*place) for place in places if place[1].version == version],
                    )
                    for version in versions
                ],
                fared=[
                    _fared(chronicle, condition, one, with_telemetry=self._owns(versions))
                    for condition, one in places
                    if one.version == newest and one.tally.matches
                ],
            )

    def queue(self, request: pb.QueueRequest) -> pb.QueueAnswer:
        """Return who plays next and why, for each condition under which something was run.

        Raises:
            DoganaError: if there is no such game.
        """
        game = find(request.game).name if request.game else None
        with self._chronicle() as chronicle, chronicle.reading():
            return pb.QueueAnswer(
                queues=[
                    pb.Queue(condition=_condition(condition), versions=waiting(chronicle, condition))
                    for condition in chronicle.conditions().values()
                    if game in (None, condition.game)
                ]
            )

    # proof

    def key(self, _: pb.KeyRequest) -> pb.KeyAnswer:
        """Return the key by which the ladder signs."""
        with self._chronicle() as chronicle:
            if not chronicle.key():
                ladder_key(self._home, chronicle)
            public = PublicKey(chronicle.key())
        return pb.KeyAnswer(key=public.text, fingerprint=public.fingerprint)

    def audit_log(self, _: pb.AuditLogRequest) -> Iterator[pb.FilePiece]:
        """Yield the audit log as of this moment, in pieces.

        Raises:
            OSError: if it cannot be written to a temporary file first.
        """
        with tempfile.TemporaryDirectory(prefix="dogana-log-") as scratch:
            file = Path(scratch) / "audit-log.jsonl"
            with self._chronicle() as chronicle:
                write(self._home, chronicle, file)
            yield from _pieces(file)

    # matches

    def matches(self, request: pb.MatchesRequest) -> pb.MatchesAnswer:
        """Return matches that count, newest first.

        Raises:
            LadderError: if there is no such bot, or no such match to begin before.
            DoganaError: if there is no such game.
        """
        limit = min(request.limit or DEFAULT_MATCHES, MAX_MATCHES)
        with self._chronicle() as chronicle, chronicle.reading():
            found = chronicle.matches(
                limit + 1,  # to know whether there are more
                versions=chronicle.find_versions(request.bot) if request.bot else (),
                conditions=chronicle.conditions_of(find(request.game).name) if request.game else None,
                lost=request.lost,
                out=request.out,
                before=find_match(self._home, chronicle, request.before) if request.before else "",
            )
        shown, more = found[:limit], len(found) > limit
        return pb.MatchesAnswer(matches=map(_played, shown), before=shown[-1].match_id if more else None)

    def playing(self, _: pb.PlayingRequest) -> pb.PlayingAnswer:
        """Return the matches that are being played."""
        answer = pb.PlayingAnswer()
        with self._chronicle() as chronicle:
            for one in playing(self._home):
                match = chronicle.match(one.match_id)
                if match is not None:
                    answer.matches.add(
                        match=match.match_id,
                        game=match.condition.game,
                        terms=match.condition.terms,
                        bots=match.labels,
                        started_at=one.started_at,
                        address=one.address if self._asker.is_organiser else "",
                    )
        return answer

    def match(self, request: pb.MatchRequest) -> pb.MatchAnswer:
        """Return how a match went. Its record is played again for this.

        Raises:
            LadderError: if there is no such match, or several; or if its block is not over, for all but the organiser.
        """
        with self._chronicle() as chronicle, chronicle.reading():
            match_id = find_match(self._home, chronicle, request.match)
            self._check_over(chronicle, match_id)
            found = traces_of(self._home, chronicle, match_id)
            logs = [log for log in found.logs if self._may_read(chronicle, log)]
            said = chronicle.telemetry_of(match_id)
        return self._traces(found, logs, {log.seat: said.get(log.seat, {}) for log in logs})

    def _check_over(self, chronicle: Chronicle, match_id: str) -> None:
        """Check that a match can be shown: from its record one learns the luck of all matches of its block.

        Raises:
            Forbidden: if it cannot, yet.
        """
        match = chronicle.match(match_id)
        if self._asker.is_organiser or match is None or match.block is None:
            return
        if not chronicle.is_over(match.block):
            raise Forbidden(f"match {match_id} can be seen when the other matches from its seed are over")

    def _traces(
        self, found: MatchTraces, logs: Sequence[Log], telemetry: Mapping[int, Mapping[str, Said]]
    ) -> pb.MatchAnswer:
        account = found.account
        answer = pb.MatchAnswer(
            match=found.match_id,
            condition=None if found.condition is None else _condition(found.condition),
            status=found.status,
            bots=found.bots,
            seats=[
                pb.SeatTraces(
                    seat=seat,
                    bot=one.bot,
                    rank=one.rank,
                    score=one.score,
                    outcome=one.outcome.value,
                    detail=one.detail,
                    decisions=one.decisions,
                    think_ms=one.think_ms,
                    longest=None if one.longest is None else pb.LongestDecision(**asdict(one.longest)),
                    usage=None if one.usage is None else pb.Usage(**asdict(one.usage)),
                    telemetry=_said(telemetry.get(seat, {})),
                )
                for seat, one in enumerate(found.seats)
            ],
            voids=found.voids,
            is_recorded=found.record is not None,
            record=self._place(found.record),
            logs=[pb.SeatLog(seat=log.seat, path=self._place(log.path)) for log in logs],
            problem=found.problem if self._asker.is_organiser or not found.problem else "its record does not hold",
        )
        if account is not None:
            answer.blames.extend(pb.Blame(**asdict(blame)) for blame in account.blames)
            answer.lost_decisions.extend(pb.LostDecision(**asdict(decision)) for decision in account.lost)
            answer.moment = f"{found.match_id}.html{account.moment}"
        return answer

    def _place(self, path: Path | None) -> str:
        """Return where something is, for those who can look there."""
        return str(path) if path is not None and self._asker.is_organiser else ""

    def record(self, request: pb.RecordRequest) -> Iterator[pb.FilePiece]:
        """Yield the record of a match, in pieces.

        Raises:
            LadderError: if there is no such match, or it has no record; or if its block is not over, for all but the organiser.
            OSError: if it cannot be read.
        """
        with self._chronicle() as chronicle:
            match_id = find_match(self._home, chronicle, request.match)
            self._check_over(chronicle, match_id)
        path = self._home.find_record(match_id)
        if not path.is_file():
            raise LadderError(f"match {match_id} has no record")
        yield from _pieces(path)

    def log(self, request: pb.LogRequest) -> pb.LogAnswer:
        """Return what bots wrote.

        Raises:
            LadderError: if there is no such bot or match, or no log of it.
            Forbidden: if there is one, but the bot is another author's.
            OSError: if a log cannot be read.
        """
        seat = request.seat if request.HasField("seat") else None
        with self._chronicle() as chronicle:
            if seat is None and (versions := chronicle.versions_called(request.what)):
                self.check_owner(versions)
                logs = [last_log(self._home, chronicle, versions)]
            else:
                match_id = find_match(self._home, chronicle, request.what)
                bots = bots_in(self._home, chronicle, match_id)
                logs = [log for log in logs_of_match(self._home, match_id, bots) if seat in (None, log.seat)]
                logs = [log for log in logs if self._may_read(chronicle, log)]
                if not logs:
                    where = "" if seat is None else f" in seat {seat}"
                    whose = "" if self._asker.is_organiser else " that you may read"
                    raise LadderError(
                        f"match {match_id} has no log{where}{whose}: house bots write none, and logs may be removed"
                    )
        return pb.LogAnswer(logs=[self._log(log, request.tail) for log in logs])

    def _log(self, log: Log, tail: int) -> pb.BotLog:
        lines = log.lines()
        shown = lines[-tail:] if tail else lines
        return pb.BotLog(
            match=log.match_id,
            seat=log.seat,
            bot=log.bot,
            path=self._place(log.path),
            lines=shown,
            lines_left_out=len(lines) - len(shown),
        )

    def _may_read(self, chronicle: Chronicle, log: Log) -> bool:
        """Tell whether who asks may read a log; the one of a bot that nobody knows any more is for the organiser."""
        if self._asker.is_organiser:
            return True
        return any(version.author == self._asker.author for version in chronicle.versions_called(log.bot))

    # what authors do

    def check_owner(self, versions: Sequence[Version]) -> None:
        """Check that a bot is theirs.

        Raises:
            Forbidden: if it is not.
        """
        if not self._owns(versions):
            raise Forbidden(f"{versions[0].bot} is another author's bot")

    def _owns(self, versions: Sequence[Version]) -> bool:
        return self._asker.is_organiser or versions[0].author == self._asker.author

    def submit(self, path: Path, bot: str, author: str) -> pb.SubmitAnswer:
        """Take in what is at a path of this machine, as a bot of an author.

        Raises:
            BadBot: if it cannot be taken in.
            LadderError: if a name is not allowed or belongs to another author.
        """
        version, is_new = submit(self._home, path, bot, author, self._asker.name)
        with self._chronicle() as chronicle:
            stopped = [] if is_new else _stopped(chronicle, version)
            newest = max(one.number for one in chronicle.versions().values() if one.bot == version.bot)
        return pb.SubmitAnswer(
            bot=version.bot,
            version=version.number,
            author=version.author,
            content_hash=version.content_hash,
            run=version.run,
            is_new=is_new,
            newest=newest,
            stopped=stopped,
        )

    def check_is_author(self) -> None:
        """Check that who asks is an author.

        Raises:
            Forbidden: if not.
        """
        if not self._asker.author:
            raise Forbidden("who submits over the network must show the token of an author")

    def receive(self, submission: pb.Submission) -> Upload:
        """Begin to take in a bot of the author who asks, whose file comes in pieces.

        Raises:
            Forbidden: if who asks is no author.
            BadBot: if it is too large, or its name is that of no file.
            LadderError: if the bot's name is not allowed or belongs to another author.
        """
        self.check_is_author()
        check_names(submission.bot, self._asker.author)
        with self._chronicle() as chronicle:
            if versions := chronicle.versions_called(submission.bot):
                self.check_owner(versions)
        return Upload(self._home, submission, lambda path: self.submit(path, submission.bot, self._asker.author))

    def retire(self, request: pb.RetireRequest) -> pb.RetireAnswer:
        """Take a bot out.

        Raises:
            LadderError: if there is no such bot, or it is a house bot.
            Forbidden: if it is another author's.
        """
        with self._chronicle() as chronicle:
            versions = chronicle.find_versions(request.bot)
            self.check_owner(versions)
            with chronicle.writing():
                retire(chronicle, versions)
                chronicle.note_act(self._asker.name, "retire", request.bot)
        return pb.RetireAnswer(versions=[version.label for version in versions])

    def requalify(self, request: pb.RequalifyRequest) -> pb.RequalifyAnswer:
        """Let a bot qualify once more.

        Raises:
            LadderError: if there is no such bot, or nothing to be done for it.
            Forbidden: if it is another author's.
        """
        with self._chronicle() as chronicle:
            versions = chronicle.find_versions(request.bot)
            self.check_owner(versions)
            with chronicle.writing():
                back, again = requalify(chronicle, versions)
                chronicle.note_act(self._asker.name, "requalify", request.bot)
        return pb.RequalifyAnswer(
            back=[version.label for version in back],
            again=[pb.Requalified(version=version.label, condition=_condition(one)) for version, one in again],
        )


# messages


def _pieces(path: Path) -> Iterator[pb.FilePiece]:
    with path.open("rb") as file:
        yield pb.FilePiece(name=path.name, data=file.read(PIECE_BYTES))
        while data := file.read(PIECE_BYTES):
            yield pb.FilePiece(data=data)


def _conditions(
    chronicle: Chronicle, game: str, clock: str | None, options: Mapping[str, OptionValue] | None
) -> list[Condition]:
    """Return the conditions of a game that were asked for; the one that a run has by default if there was no run.

    Raises:
        LadderError: if there was a run, but none under such a condition.
    """
    known = chronicle.conditions_of(game)
    if not known:
        return [Condition(0, game, options or {}, clock or DEFAULT_CLOCK)]
    found = [one for one in known if clock in (None, one.clock) and options in (None, one.options)]
    if not found:
        raise LadderError(
            f"{game} was not run under that condition, but under: {'; '.join(one.terms for one in known)}"
        )
    return found


def _condition(condition: Condition) -> pb.Condition:
    return pb.Condition(
        game=condition.game, options=condition.options_struct(), clock=condition.clock, terms=condition.terms
    )


def _table(chronicle: Chronicle, condition: Condition) -> Iterator[pb.Standing]:
    for place, one in enumerate(standings(chronicle, condition), 1):
        yield _standing(condition, one, place)


def _standing(condition: Condition, one: Standing, place: int | None = None) -> pb.Standing:
    rating, tally = one.rating, one.tally
    return pb.Standing(
        game=condition.game,
        options=condition.options_struct(),
        clock=condition.clock,
        terms=condition.terms,
        place=None if rating is None else place,
        bot=one.version.bot,
        version=one.version.number,
        author=one.version.author,
        mu=None if rating is None else rating.mu,
        sigma=None if rating is None else rating.sigma,
        low=None if rating is None else rating.low,
        matches=tally.matches,
        different=tally.different,
        wins=tally.wins,
        out=tally.faults,
        status=one.status.value,
        reason=one.reason,
    )


def _said(telemetry: Mapping[str, Said]) -> Iterator[pb.Telemetry]:
    for key, said in telemetry.items():
        yield pb.Telemetry(key=key, matches=said.matches, values=said.values, mean=said.mean)


def _fared(chronicle: Chronicle, condition: Condition, one: Standing, *, with_telemetry: bool) -> pb.Fared:
    """Return how a version has fared under a condition."""
    version = one.version
    return pb.Fared(
        standing=_standing(condition, one),
        faults={outcome.value: count for outcome, count in chronicle.faults(version, condition).items()},
        blocks=[
            pb.BlockRating(block=block, mu=rating.mu, sigma=rating.sigma, low=rating.low)
            for block, rating in chronicle.rating_history(version, condition).items()
        ],
        met=[
            pb.Met(bot=other.bot, version=other.number, **asdict(score))
            for other, score in chronicle.met(version, condition).items()
        ],
        telemetry=_said(chronicle.telemetry(version, condition)) if with_telemetry else (),
    )


def _played(match: PlayedMatch) -> pb.PlayedMatch:
    return pb.PlayedMatch(
        match=match.match_id,
        number=match.number,
        game=match.condition.game,
        options=match.condition.options_struct(),
        clock=match.condition.clock,
        terms=match.condition.terms,
        block=match.block,
        rotation=match.rotation,
        finished_at=match.finished_at,
        rated=match.rated,
        seats=[
            pb.PlayedSeat(
                seat=seat.seat,
                bot=seat.version.bot,
                version=seat.version.number,
                rank=seat.rank,
                score=seat.score,
                outcome=seat.outcome.value,
                detail=seat.detail,
            )
            for seat in match.seats
        ],
    )


def _stopped(chronicle: Chronicle, version: Version) -> list[pb.Standing]:
    """Return where a version is not scheduled, and will not be."""
    return [
        _standing(condition, one)
        for condition in chronicle.conditions().values()
        for one in standings(chronicle, condition)
        if one.version == version and one.status in (Status.FAILED, Status.SUSPENDED, Status.RETIRED)
    ]
