"""The desk of a ladder, which answers the questions of one caller and accepts the bots that the caller submits or offers.

Text from strangers is passed on unchanged; the code that prints it escapes control characters.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ladder.facts.store import Store
from ladder.intake.offer import OfferedBot, is_known, offered
from ladder.intake.submission import check_names, submit
from ladder.intake.upload import Upload
from ladder.model.match import Version
from ladder.operation.home import Home
from ladder.operation.room import lack_of_room
from ladder.questions.access import check_is_author, check_owner
from ladder.questions.caller import ORGANISER, Caller
from ladder.questions.changes import SubmitAnswer, SubmitRequest
from ladder.questions.question import Answer, Ladder, Request, check_filled, question_of
from ladder.questions.rows import StandingRow, stopped_standings
from referee.registry import find


class Desk:
    """The desk of one ladder, for one caller. Most questions read a snapshot of the ladder."""

    def __init__(self, home: Home, caller: Caller = ORGANISER, facts: Store | None = None, address: str = "") -> None:
        """Prepare to answer from `facts`, which stay open; without them, each question opens the file, which takes a few ms.

        `address` is the same as in `Ladder`.
        """
        self._home = home
        self._caller = caller
        self._open = facts
        self._address = address

    def _facts(self) -> AbstractContextManager[Store]:
        return Store(self._home.database, create=False) if self._open is None else nullcontext(self._open)

    def lacks_room(self) -> bool:
        """Return True if the ladder accepts and plays nothing because the disk is full."""
        return bool(lack_of_room(self._home.folder))

    def ask(self, request: Request[Answer]) -> Answer:
        """Answer a request.

        Raises:
            DoganaError: if the request is refused; see the function of the question.
        """
        check_filled(request)
        question = question_of(type(request))
        if game := getattr(request, "game", ""):
            find(game)  # a game that does not exist is reported before a ladder that does not
        # Nothing can be written within a snapshot.
        with self._facts() as facts, facts.reading() if question.is_of_one_moment else nullcontext():
            answer: Answer = question.function(Ladder(self._home, facts, self._caller, self._address), request)
            return answer

    def submit(self, path: Path, bot: str, author: str, *, at_tables: bool = False) -> SubmitAnswer:
        """Submit the file or folder at a local path as a bot of an author, with or without consent to play against people.

        Raises:
            BadBot: if the bot cannot be accepted.
            LadderError: if a name is not allowed or belongs to another author.
        """
        version, is_new = submit(self._home, path, bot, author, self._caller.name, at_tables=at_tables)
        with self._facts() as facts:
            return SubmitAnswer(
                bot=version.bot,
                version=version.number,
                author=version.author,
                content_hash=version.content_hash,
                run=list(version.run),
                is_new=is_new,
                newest=max(one.number for one in facts.roster.versions().values() if one.bot == version.bot),
                stopped=[] if is_new else stopped_standings(facts, version),  # a new version has yet to qualify
                at_tables=version.bot in facts.roster.at_tables(),
            )

    def receive(self, request: SubmitRequest, size: int) -> Upload[SubmitAnswer]:
        """Begin to receive a bot from the caller; its file of at most `size` bytes arrives in chunks.

        Raises:
            Forbidden: if the caller is not an author.
            BadBot: if the file is too large, or its name is not a file name.
            LadderError: if the bot's name is not allowed or belongs to another author.
        """
        check_is_author(self._caller)
        bot, author = request.bot, self._caller.author
        # The names are checked before the file arrives, which may take minutes; `submit` checks them again.
        check_names(bot, author)
        with self._facts() as facts:
            if versions := facts.roster.versions_called(bot):
                check_owner(self._caller, versions)
        return Upload(
            self._home, request.file, size, lambda path: self.submit(path, bot, author, at_tables=request.at_tables)
        )

    def is_known(self, offer: OfferedBot) -> bool:
        """Return True if the offered version has been offered before."""
        with self._facts() as facts:
            return is_known(facts, offer)

    def offer(self, offer: OfferedBot) -> tuple[Version, bool, list[StandingRow]]:
        """Register one of the caller's bots, which runs on the caller's machine and is connected now.

        Returns:
            Its version, True if the version is new, and the standings in which it is not scheduled.

        Raises:
            Forbidden: if the caller is not an author.
            BadBot: if the offer is not valid, or a newer version of the bot plays in its place.
            LadderError: if the bot's name is not allowed, or belongs to another author.
        """
        check_is_author(self._caller)
        check_names(offer.bot, self._caller.author)
        with self._facts() as facts:
            version, is_new = offered(facts, self._caller.author, offer)
            return version, is_new, [] if is_new else stopped_standings(facts, version)
