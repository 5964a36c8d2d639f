"""What people can ask of a ladder, and what they can do to it: a message in, a message out (`proto/dogana/v1/ladder.proto`).

The commands of `dogana ladder` and the service of `dogana ladder serve` are faces of this one desk. It decides who may do and
see what. Text of strangers is handed on as it is; whoever prints it makes it visible.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path

from dogana.v1 import ladder_pb2 as pb
from ladder.archive import traces
from ladder.archive.archive import NoRecord, find_record
from ladder.archive.audit_log import write
from ladder.archive.key import ladder_key
from ladder.archive.retention import KEPT, by_retention
from ladder.facts.history import Said
from ladder.facts.standings import places, requalify, retire, standings
from ladder.facts.store import Store
from ladder.intake.offer import is_known, offered
from ladder.intake.submission import allow_at_tables, check_names, submit
from ladder.intake.upload import Upload
from ladder.model.match import Version
from ladder.operation.errors import Forbidden, LadderError, NotFound
from ladder.operation.home import Home
from ladder.operation.room import lack_of_room
from ladder.play.playing import playing
from ladder.questions import answers
from ladder.questions.asker import ORGANISER, Asker, without_path
from ladder.questions.choosing import check_hosted, conditions_asked_for, is_called
from ladder.questions.comparing import compare, crosstable
from ladder.questions.news import news
from ladder.questions.waiting import waiting
from referee.records.record import zipped
from referee.records.signature import PublicKey
from referee.registry import find, games
from referee.version import installed_version

MAX_MATCHES = 1000
"""The greatest number of matches that are listed at a time."""
DEFAULT_MATCHES = 10


class Desk:
    """The desk of one ladder, for one who asks. Each question sees one moment of the ladder."""

    def __init__(self, home: Home, asker: Asker = ORGANISER, chronicle: Store | None = None) -> None:
        """Ask a chronicle that is open, and stays so; or one that is opened for each question, which takes some milliseconds."""
        self._home = home
        self._asker = asker
        self._open = chronicle

    def _chronicle(self) -> AbstractContextManager[Store]:
        return Store(self._home.database, create=False) if self._open is None else nullcontext(self._open)

    def lacks_room(self) -> bool:
        """Tell whether nothing is taken in or played because the disk is full."""
        return bool(lack_of_room(self._home.folder))

    # standings and bots

    def info(self, _: pb.InfoRequest) -> pb.InfoAnswer:
        """Tell which ladder this is."""
        with self._chronicle() as chronicle:
            return pb.InfoAnswer(
                dogana=installed_version(),
                games=list(games()),
                author=self._asker.author,
                matches=chronicle.results.count_of_matches(),
            )

    def top(self, request: pb.TopRequest) -> pb.TopAnswer:
        """Return the standings.

        Raises:
            LadderError: if there was a run of the game, but none under such a condition.
            DoganaError: if there is no such game, or it has no such options.
        """
        if request.game:
            find(request.game)  # told before it is looked whether there is a ladder
        with self._chronicle() as chronicle, chronicle.reading():
            return pb.TopAnswer(
                tables=[
                    pb.Standings(
                        condition=answers.condition_message(condition),
                        versions=answers.table(chronicle, condition),
                        blocks=sum(chronicle.schedule.blocks_by_seats(condition).values()),
                    )
                    for condition in conditions_asked_for(chronicle, request)
                ]
            )

    def crosstable(self, request: pb.CrosstableRequest) -> pb.CrosstableAnswer:
        """Return how the best versions have fared against each other.

        Raises:
            LadderError: if no game is named; if there was a run of the game, but none under such a condition.
            DoganaError: if there is no such game, or it has no such options.
        """
        if not request.game:
            raise LadderError("a crosstable is of one game; name it: dogana ladder crosstable GAME")
        with self._chronicle() as chronicle, chronicle.reading():
            return pb.CrosstableAnswer(
                tables=[crosstable(chronicle, condition) for condition in conditions_asked_for(chronicle, request)]
            )

    def compare(self, request: pb.CompareRequest) -> pb.CompareAnswer:
        """Return two versions side by side.

        Raises:
            LadderError: if there is no such bot, or both are the same version.
            DoganaError: if there is no such game.
        """
        game = find(request.game).name if request.game else None
        with self._chronicle() as chronicle, chronicle.reading():
            chosen = [one for one in chronicle.roster.conditions().values() if game in (None, one.game)]
            return compare(chronicle, request.one, request.other, chosen)

    def bots(self, request: pb.BotsRequest) -> pb.BotsAnswer:
        """Return every bot with its newest version, by name.

        Raises:
            DoganaError: if there is no such game.
        """
        game = find(request.game).name if request.game else None
        with self._chronicle() as chronicle, chronicle.reading():
            newest = {version.bot: version for version in chronicle.roster.versions().values()}
            listed: dict[Version, list[pb.Standing]] = {
                newest[bot]: []
                for bot in sorted(newest)
                if (game is None or game in newest[bot].games) and is_called(newest[bot], request.called)
            }
            for condition in chronicle.roster.conditions().values():
                if game in (None, condition.game):
                    placed = places(chronicle, condition)
                    for one in standings(chronicle, condition):
                        if one.version in listed:
                            listed[one.version].append(
                                answers.standing_message(condition, one, placed.get(one.version.id))
                            )
        return pb.BotsAnswer(
            bots=[
                pb.Bot(bot=version.bot, version=version.number, author=version.author, standings=found)
                for version, found in listed.items()
            ]
        )

    def show(self, request: pb.ShowRequest) -> pb.ShowAnswer:
        """Return a bot: its versions, and how the last of them has fared.

        Raises:
            LadderError: if there is no such bot.
        """
        with self._chronicle() as chronicle, chronicle.reading():
            versions = chronicle.roster.find_versions(request.bot)
            submitted = chronicle.roster.submitted_at([version.id for version in versions])
            owns = self._owns(versions)
            found = [
                (
                    condition,
                    answers.with_last_words(self._home, condition, one) if owns else one,
                    placed.get(one.version.id),
                )
                for condition in chronicle.roster.conditions().values()
                for placed in (places(chronicle, condition),)
                for one in standings(chronicle, condition, [version.id for version in versions])
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
                        language=version.language,
                        standings=[answers.standing_message(*row) for row in found if row[1].version == version],
                    )
                    for version in versions
                ],
                fared=[
                    answers.fared_message(self._home, chronicle, condition, one, place, with_telemetry=owns)
                    for condition, one, place in found
                    if one.version == newest and one.tally.matches
                ],
                is_own=bool(self._asker.author) and newest.author == self._asker.author,
                at_tables=newest.bot in chronicle.roster.at_tables(),
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
                    pb.Queue(condition=answers.condition_message(condition), versions=waiting(chronicle, condition))
                    for condition in chronicle.roster.conditions().values()
                    if game in (None, condition.game)
                ]
            )

    def news(self, request: pb.NewsRequest) -> pb.NewsAnswer:
        """Return what is new.

        Raises:
            LadderError: if there is no such bot.
        """
        with self._chronicle() as store, store.reading():
            return pb.NewsAnswer(news=news(store, request.bot))

    # proof

    def key(self, _: pb.KeyRequest) -> pb.KeyAnswer:
        """Return the key by which the ladder signs; if it has none yet, make one for its organiser.

        Raises:
            NotFound: if it has none, for all others: who looks changes nothing.
        """
        with self._chronicle() as chronicle:
            if not chronicle.log.key():
                if not self._asker.is_organiser:
                    raise NotFound("the ladder has no key yet: it has signed nothing")
                ladder_key(self._home, chronicle)
            public = PublicKey(chronicle.log.key())
        return pb.KeyAnswer(key=public.text, fingerprint=public.fingerprint)

    def audit_log(self, _: pb.AuditLogRequest) -> Generator[pb.FilePiece]:
        """Yield the audit log as of this moment, in pieces.

        Raises:
            OSError: if it cannot be written to a temporary file first.
        """
        with tempfile.TemporaryDirectory(prefix="dogana-log-") as scratch:
            file = Path(scratch) / "audit-log.jsonl"
            with self._chronicle() as chronicle:
                write(self._home, chronicle, file)
            source = file.open("rb")  # it needs no name any more: nothing is left of it, whatever is killed meanwhile
        yield from answers.file_pieces(source, file.name)

    # matches

    def matches(self, request: pb.MatchesRequest) -> pb.MatchesAnswer:
        """Return matches that count, newest first.

        Raises:
            LadderError: if there is no such bot, or no such match to begin before or after, or if both are named.
            DoganaError: if there is no such game.
        """
        if request.before and request.after:
            raise LadderError("matches are listed before a match, or after one; leave out one of them")
        limit = min(request.limit or DEFAULT_MATCHES, MAX_MATCHES)
        with self._chronicle() as chronicle, chronicle.reading():
            before, after = (self._find_match(chronicle, one) if one else "" for one in (request.before, request.after))
            wanted = partial(
                chronicle.history.numbers,
                versions=chronicle.roster.find_versions(request.bot) if request.bot else (),
                conditions=chronicle.roster.conditions_of(find(request.game).name) if request.game else None,
                lost=request.lost,
                out=request.out,
            )
            found = chronicle.history.numbered(wanted(limit, before=before, after=after))
            is_older = bool(found and wanted(1, before=found[-1].match_id))
            is_newer = bool(found and wanted(1, after=found[0].match_id))
            return pb.MatchesAnswer(
                matches=answers.played_messages(chronicle, found),
                before=found[-1].match_id if is_older else None,
                after=found[0].match_id if is_newer else None,
            )

    def playing(self, _: pb.PlayingRequest) -> pb.PlayingAnswer:
        """Return the matches that are being played."""
        answer = pb.PlayingAnswer()
        with self._chronicle() as chronicle:
            for one in playing(self._home):
                match = chronicle.schedule.match(one.match_id)
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
            match_id = self._find_match(chronicle, request.match)
            self._check_over(chronicle, match_id)
            found = traces.traces_of(self._home, chronicle, match_id)
            logs = [log for log in found.logs if self._may_read(chronicle, log)]
            said = chronicle.history.telemetry_of(match_id)
            played = chronicle.history.played(match_id)
            block = () if played is None else answers.played_messages(chronicle, chronicle.history.played_with(played))
        answer = self._traces(found, logs, {log.seat: said.get(log.seat, {}) for log in logs})
        answer.block.extend(block)
        answer.digest = "" if played is None else played.digest
        return answer

    def _find_match(self, chronicle: Store, beginning: str) -> str:
        """Return the id of a match, as `ladder.archive.traces.find_match`.

        What was to qualify a version is for its author and the organiser, a trial for the organiser; nobody else learns of them.
        """
        if self._asker.is_organiser:
            return traces.find_match(self._home, chronicle, beginning)

        def may_know(match_id: str) -> bool:
            version = traces.qualified_in(match_id)
            known = None if version is None else chronicle.roster.versions([version]).get(version)
            return known is not None and known.author == self._asker.author

        return traces.find_match(self._home, chronicle, beginning, may_know)

    def _check_over(self, chronicle: Store, match_id: str) -> None:
        """Check that a match can be shown: from its record one learns the luck of all matches of its block.

        Raises:
            Forbidden: if it cannot, yet.
        """
        match = chronicle.schedule.match(match_id)
        if self._asker.is_organiser or match is None or match.block is None:
            return
        if not chronicle.schedule.is_over(match.block):
            raise Forbidden(f"match {match_id} can be seen when the other matches from its seed are over")

    def _traces(
        self, found: traces.MatchTraces, logs: Sequence[traces.Log], telemetry: Mapping[int, Mapping[str, Said]]
    ) -> pb.MatchAnswer:
        account = found.account
        answer = pb.MatchAnswer(
            match=found.match_id,
            condition=None if found.condition is None else answers.condition_message(found.condition),
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
                    telemetry=answers.telemetry_messages(telemetry.get(seat, {})),
                    breakdown=()
                    if account is None
                    else (pb.Points(source=source, points=points) for source, points in account.breakdown[seat]),
                )
                for seat, one in enumerate(found.seats)
            ],
            voids=found.voids,
            is_recorded=found.is_recorded,
            logs=[pb.SeatLog(seat=log.seat) for log in logs],
            pruned_at=found.pruned_at,
            problem=found.problem if self._asker.is_organiser or not found.problem else "its record does not hold",
        )
        if account is not None:
            answer.blames.extend(pb.Blame(**asdict(blame)) for blame in account.blames)
            answer.lost_decisions.extend(pb.LostDecision(**asdict(decision)) for decision in account.lost)
            answer.moment = f"{found.match_id}.html{account.moment}"
            if account.lead is not None:
                answer.lead.CopyFrom(pb.Lead(**asdict(account.lead)))
        return answer

    def record(self, request: pb.RecordRequest) -> Generator[pb.FilePiece]:
        """Yield the record of a match, in pieces.

        Raises:
            LadderError: if there is no such match, or it has no record; or if its block is not over, for all but the organiser.
            RecordError: if it is damaged, or the archive is; others than the organiser are told no path.
        """
        with self._chronicle() as chronicle:
            match_id = self._find_match(chronicle, request.match)
            self._check_over(chronicle, match_id)
        try:
            with without_path(f"the record of match {match_id} is", self._asker):
                record = find_record(self._home, match_id)
        except NoRecord:
            with self._chronicle() as chronicle:
                pruned_at = chronicle.evidence.record_pruned_at(match_id)
            if pruned_at:
                raise LadderError(f"{by_retention(f'the record of match {match_id} was', pruned_at)}; {KEPT}") from None
            raise LadderError(f"match {match_id} has no record") from None
        yield from answers.file_pieces(BytesIO(zipped(record.data)), f"{match_id}.jsonl.zst")

    def log(self, request: pb.LogRequest) -> pb.LogAnswer:
        """Return what bots wrote.

        Raises:
            LadderError: if there is no such bot or match, or no log of it.
            Forbidden: if there is one, but the bot is another author's.
            RecordError: if it is damaged; others than the organiser are told no path.
        """
        seat = request.seat if request.HasField("seat") else None
        with self._chronicle() as chronicle:
            if seat is None and (versions := chronicle.roster.versions_called(request.what)):
                self.check_owner(versions)
                with without_path("the logs of this bot are", self._asker):
                    logs = [traces.last_log(self._home, chronicle, versions)]
            else:
                match_id = self._find_match(chronicle, request.what)
                bots = traces.bots_in(self._home, chronicle, match_id)
                with without_path(f"the logs of match {match_id} are", self._asker):
                    logs = traces.logs_of_match(self._home, match_id, bots)
                logs = [log for log in logs if seat in (None, log.seat) and self._may_read(chronicle, log)]
                if not logs:
                    if pruned_at := chronicle.evidence.logs_pruned_at(match_id):
                        raise LadderError(by_retention(f"the logs of match {match_id} were", pruned_at))
                    where = "" if seat is None else f" in seat {seat}"
                    whose = "" if self._asker.is_organiser else " that you may read"
                    raise LadderError(
                        f"match {match_id} has no log{where}{whose}: house bots write none, bots at home keep theirs, and logs may be removed"
                    )
        return pb.LogAnswer(logs=[self._log(log, request.tail) for log in logs])

    def _log(self, log: traces.Log, tail: int) -> pb.BotLog:
        lines = log.lines()
        shown = lines[-tail:] if tail else lines
        return pb.BotLog(
            match=log.match_id,
            seat=log.seat,
            bot=log.bot,
            lines=shown,
            lines_left_out=len(lines) - len(shown),
        )

    def _may_read(self, chronicle: Store, log: traces.Log) -> bool:
        """Tell whether who asks may read a log; the one of a bot that nobody knows any more is for the organiser."""
        if self._asker.is_organiser:
            return True
        return any(version.author == self._asker.author for version in chronicle.roster.versions_called(log.bot))

    # what authors do

    def check_owner(self, versions: Sequence[Version]) -> None:
        """Check that a bot is theirs.

        Raises:
            Forbidden: if it is not.
        """
        if not self._owns(versions):
            raise Forbidden(f"{versions[0].bot} is another author's bot")

    def _own_versions(self, chronicle: Store, bot: str) -> list[Version]:
        """Return the versions of a bot, which must be one of who asks: as `find_versions` and `check_owner`."""
        versions = chronicle.roster.find_versions(bot)
        self.check_owner(versions)
        return versions

    def _owns(self, versions: Sequence[Version]) -> bool:
        return self._asker.is_organiser or versions[0].author == self._asker.author

    def submit(self, path: Path, bot: str, author: str, *, at_tables: bool = False) -> pb.SubmitAnswer:
        """Take in what is at a path of this machine, as a bot of an author; people may then play against it if that is said.

        Raises:
            BadBot: if it cannot be taken in.
            LadderError: if a name is not allowed or belongs to another author.
        """
        version, is_new = submit(self._home, path, bot, author, self._asker.name, at_tables=at_tables)
        with self._chronicle() as chronicle:
            stopped = [] if is_new else answers.stopped_standings(chronicle, version)
            newest = max(one.number for one in chronicle.roster.versions().values() if one.bot == version.bot)
            willing = chronicle.roster.at_tables()
        return pb.SubmitAnswer(
            bot=version.bot,
            version=version.number,
            author=version.author,
            content_hash=version.content_hash,
            run=version.run,
            is_new=is_new,
            newest=newest,
            stopped=stopped,
            at_tables=version.bot in willing,
        )

    def check_is_author(self) -> None:
        """Check that who asks is an author.

        Raises:
            Forbidden: if not.
        """
        if not self._asker.author:
            raise Forbidden("who submits or offers a bot over the network must show the token of an author")

    def is_known(self, offer: pb.Offer) -> bool:
        """Tell whether a version that is offered has been offered before."""
        with self._chronicle() as chronicle:
            return is_known(chronicle, offer)

    def offer(self, offer: pb.Offer) -> tuple[Version, pb.Connected]:
        """Note that a bot of the author who asks is connected, and runs on their machine.

        Raises:
            Forbidden: if who asks is no author.
            BadBot: if the offer contradicts itself, or a newer version of the bot plays in its place.
            LadderError: if the bot's name is not allowed, or belongs to another author.
        """
        self.check_is_author()
        check_names(offer.bot, self._asker.author)
        with self._chronicle() as chronicle:
            version, is_new = offered(chronicle, self._asker.author, offer)
            stopped = [] if is_new else answers.stopped_standings(chronicle, version)
        return version, pb.Connected(
            bot=version.bot, version=version.number, is_new=is_new, author=version.author, stopped=stopped
        )

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
            if versions := chronicle.roster.versions_called(submission.bot):
                self.check_owner(versions)
        bot, who, willing = submission.bot, self._asker.author, submission.at_tables
        return Upload(self._home, submission, lambda path: self.submit(path, bot, who, at_tables=willing))

    def retire(self, request: pb.RetireRequest) -> pb.RetireAnswer:
        """Take a bot out.

        Raises:
            LadderError: if there is no such bot, or it is a house bot.
            Forbidden: if it is another author's.
        """
        with self._chronicle() as chronicle:
            versions = self._own_versions(chronicle, request.bot)
            with chronicle.writing():
                retire(chronicle, versions)
                chronicle.log.note_act(self._asker.name, "retire", request.bot)
        return pb.RetireAnswer(versions=[version.label for version in versions])

    def requalify(self, request: pb.RequalifyRequest) -> pb.RequalifyAnswer:
        """Let a bot qualify once more.

        Raises:
            LadderError: if there is no such bot, or nothing to be done for it.
            Forbidden: if it is another author's.
        """
        with self._chronicle() as chronicle:
            versions = self._own_versions(chronicle, request.bot)
            with chronicle.writing():
                back, again = requalify(chronicle, versions)
                chronicle.log.note_act(self._asker.name, "requalify", request.bot)
        return pb.RequalifyAnswer(
            back=[version.label for version in back],
            again=[
                pb.Requalified(version=version.label, condition=answers.condition_message(one))
                for version, one in again
            ],
        )

    def at_tables(self, request: pb.AtTablesRequest) -> pb.AtTablesAnswer:
        """Let people play against a bot at tables, or not any more.

        Raises:
            LadderError: if there is no such bot, or it does not run here.
            Forbidden: if it is another author's.
        """
        with self._chronicle() as chronicle:
            versions = self._own_versions(chronicle, request.bot)
            bot = check_hosted(versions)
            allow_at_tables(chronicle, bot, self._asker.name, allowed=request.at_tables)
        return pb.AtTablesAnswer(bot=bot, at_tables=request.at_tables)
