"""The files of a bot."""

from __future__ import annotations

import gzip
import tarfile
from tempfile import TemporaryFile

from ladder.operation.errors import LadderError
from ladder.questions.access import own_versions
from ladder.questions.question import File, Ladder, Name, Request, file_of, question


class FilesRequest(Request[File]):
    """Asks for the files of a bot."""

    bot: Name
    """A bot, which stands for its newest version, or one version of a bot, such as `mybot v2`."""


@question("/bots/{bot}/files", is_of_one_moment=False)
def files(ladder: Ladder, request: FilesRequest) -> File:
    """Send the files of a submitted version as a .tar.gz archive, to its author or the organiser.

    The archive is a bot with the same files and the same content hash: it can take a seat in `dogana play`, or be submitted.

    Raises:
        NotFound: if there is no such bot.
        Forbidden: if the bot belongs to another author.
        LadderError: if the ladder does not have the files of the version.
        OSError: if the archive cannot be written to a temporary file first.
    """
    version = own_versions(ladder, request.bot)[-1]
    if version.is_house or version.is_at_home:
        where = "comes with Dogana" if version.is_house else "runs on its author's machine"
        raise LadderError(f"the ladder has no files of {version.label}: it {where}")
    folder = ladder.home.versions / version.content_hash
    if not folder.is_dir():
        raise LadderError(f"the files of {version.label} are gone; submit it again")
    scratch = TemporaryFile()  # noqa: SIM115  # file_of closes it
    with (
        # Without a time stamp, the same files make the same archive. PAX allows names of any length, in any alphabet.
        gzip.GzipFile(fileobj=scratch, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=_plain)
    scratch.seek(0)
    return file_of(scratch, f"{version.bot}-v{version.number}.tar.gz")


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Reset owner, time and permissions of an archive entry, so that the unpacked files can be changed and removed."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry
