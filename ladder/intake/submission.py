"""Accept submissions: the files of each become a version of an author's bot."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ladder.archive.key import ladder_key
from ladder.archive.quotas import check_quota
from ladder.archive.retention import remove_version
from ladder.facts.standings import at_rest
from ladder.facts.store import Store
from ladder.model.match import HOUSE, Version
from ladder.model.names import ORGANISER_NAME, looks_like, without_version
from ladder.operation.errors import BadName, CannotPlay, NoRoom
from ladder.operation.home import Home
from ladder.operation.room import check_room
from referee.bots.errors import DiskFull
from referee.bots.files import TAKEN_IN_MODE, Artefact, check_path, hash_of, take_in
from referee.registry import house_bots

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)


def submit(
    home: Home, path: Path, name: str, author: str, who: str = ORGANISER_NAME, *, at_tables: bool = False
) -> tuple[Version, bool]:
    """Accept a bot, and make the ladder if it does not exist; return the version, and True if the version is new.

    Args:
        home: the ladder.
        path: the program, folder or archive.
        name: the name of the bot.
        author: the author of the bot.
        who: the name of the submitter, for the list of changes.
        at_tables: True to allow people to play against the bot at tables; False leaves the setting unchanged.

    Raises:
        BadBot: if the bot is refused; a ladder that was made for it is removed again.
        BadName: if a name is not allowed or belongs to another author.
        LadderError: if the folder cannot be a ladder, or the author's quota does not allow the files.
        NoRoom: if the disk is full; then nothing of the bot is stored.
    """
    check_names(name, author)
    check_path(path)
    existed = home.folder.exists()
    home.make()
    try:
        check_room(home.folder)
        return _take_in_and_enter(home, path, name, author, who, at_tables=at_tables)
    except BaseException:
        if not existed:  # leave no empty ladder behind; `rmdir` fails if somebody else has submitted a bot meanwhile
            for folder in (home.versions, home.folder):
                with contextlib.suppress(OSError):
                    folder.rmdir()
        raise


def _take_in_and_enter(
    home: Home, path: Path, name: str, author: str, who: str, *, at_tables: bool
) -> tuple[Version, bool]:
    while True:
        # The files are copied outside the lock, so that other authors can submit while a large bot is copied.
        artefact = take_in_for(home.versions, path, home.runtimes())
        with home.versions_alone():
            files = home.versions / artefact.content_hash
            if not files.exists():  # a pruning has removed the files
                continue
            files.chmod(
                TAKEN_IN_MODE
            )  # a process that was killed while it put them here, or removed them, may have left them closed
            # True if the files must survive an error, because a version uses them.
            stays = artefact.was_there
            try:
                with Store(home.database, create=True) as store:
                    is_known = store.roster.has_content(artefact.content_hash)
                    stays = is_known and (artefact.was_there or _may_play(store, artefact.content_hash))
                    ladder_key(home, store)
                    if not (artefact.was_there and is_known):
                        check_quota(home, store, author, artefact.content_hash)
                    entered = _enter(store, artefact, name, author, who, at_tables=at_tables)
                    stays = True  # even if a signal comes before the file is closed
                return entered
            except BaseException:
                if not stays:
                    remove_version(home, artefact.content_hash)
                raise


def take_in_for(versions: Path, path: Path, runtimes: Sequence[Path]) -> Artefact:
    """Copy the files of a bot to the disk of a ladder, as `take_in` does.

    Raises:
        BadBot: if the bot is refused, as in `take_in`.
        NoRoom: if the disk is full.
    """
    try:
        return take_in(path, versions, runtimes)
    except DiskFull as error:
        raise NoRoom(str(error)) from error


def _may_play(store: Store, content_hash: str) -> bool:
    """Return True if a version with these files may play, so that pruning would not remove them."""
    resting = at_rest(store)
    return any(one.content_hash == content_hash and one.id not in resting for one in store.roster.versions().values())


def _enter(
    store: Store, artefact: Artefact, name: str, author: str, who: str, *, at_tables: bool
) -> tuple[Version, bool]:
    """Add a version whose files are on the disk."""
    with store.writing():
        version, is_new = store.roster.add_version(
            name, author, artefact.content_hash, artefact.run, artefact.games, artefact.language
        )
        if is_new:
            store.log.note_act(who, "submit", version.label)
        if at_tables:
            allow_at_tables(store, name, who, allowed=True)
    return version, is_new


def allow_at_tables(store: Store, bot: str, who: str, *, allowed: bool) -> None:
    """Allow or forbid people to play against a bot at tables; if this is a change, add it to the list of changes."""
    with store.writing():
        if (bot in store.roster.at_tables()) != allowed:
            store.roster.consent(bot, given=allowed)
            store.log.note_act(who, "at-tables", f"{bot}: {'yes' if allowed else 'no'}")


def check_names(bot: str, author: str) -> None:
    """Check the names of a submitted bot and of its author.

    Raises:
        BadName: if a name contains characters that are not allowed, or could be mistaken for a house bot or the author of house
            bots, or if the bot's name could be mistaken for a version.
    """
    check_name(bot, "a bot's name")
    if not without_version(bot):
        raise BadName(f"a bot cannot be called {bot}, which reads like the version of another; choose another name")
    check_name(author, "an author's name")


def check_name(name: str, what: str) -> None:
    """Check a name; `what` describes it in error messages, as in "a bot's name".

    Raises:
        BadName: if it contains characters that are not allowed, or could be mistaken for a house bot or the author of house bots.
    """
    if not _NAME.fullmatch(name):
        raise BadName(f"{what} must be 1 to 40 letters, digits, dots, dashes and underscores, not {name!r}")
    taken = sorted({HOUSE, ORGANISER_NAME, *house_bots()})
    if other := looks_like(name, taken):
        like = "" if name.lower() == other else f", and {name} could be taken for {other}"
        raise BadName(f"the names of house bots and of their author ({', '.join(taken)}) are reserved{like}")


class Inspector:
    """Checks that the files of versions are unchanged since their submission.

    A folder is read again only after a change in the names, modes, sizes or times of its files. (No program can set one
    of these times, `ctime`.)
    """

    def __init__(self, versions: Path) -> None:
        """Prepare the inspector; `versions` is the folder of all versions."""
        self._versions = versions
        self._known: dict[str, _Fingerprint] = {}

    def check(self, version: Version) -> None:
        """Check that a version can be played.

        Raises:
            CannotPlay: if its files have changed, are missing, or cannot be read.
        """
        if version.is_house or version.is_at_home:
            return
        folder = self._versions / version.content_hash
        try:
            # Computed before the hash, so that a change in the meantime shows in the next fingerprint.
            seen = _fingerprint(folder)
            if self._known.get(version.content_hash) == seen:
                return
            if hash_of(folder) == version.content_hash:
                self._known[version.content_hash] = seen
                return
            what = f"are not those that were submitted (in {folder})"
        except FileNotFoundError:
            what = f"are gone from {folder}"
        except OSError as error:
            what = f"cannot be read (in {folder}): {error.strerror}"
        raise CannotPlay(f"the files of {version.label} {what}; submit the same again to restore them")


_Fingerprint = list[tuple[str, int, int, int, int, int]]


def _fingerprint(folder: Path) -> _Fingerprint:
    """Return the name, inode, mode, size and times of a folder and all its content; do not follow links."""
    found = [_noted(str(folder), folder.lstat())]
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:  # pathlib takes four times as long, before every match
            for entry in entries:
                found.append(_noted(entry.path, entry.stat(follow_symlinks=False)))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return sorted(found)  # `scandir` has no fixed order


def _noted(path: str, status: os.stat_result) -> tuple[str, int, int, int, int, int]:
    return path, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
