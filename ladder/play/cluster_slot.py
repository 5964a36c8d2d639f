"""A slot of a ladder on another machine, which receives a match with its files and sends back the outcome.

It has its own ladder folder, without facts, and an ordinary pool of one worker, so it is protected in the same way as a
ladder from bots that hang, fork and kill. All slots on a machine share the folder, which stores versions by their
content.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ladder.intake.submission import take_in_for
from ladder.model.match import Match, Version
from ladder.operation.errors import NoRoom
from ladder.operation.home import Home
from ladder.operation.room import is_for_want_of_room
from ladder.play.pool import End, Finished, Pool, Void
from referee.bots.errors import BadBot, NoProgram
from referee.errors import DoganaError
from referee.files import private_folder
from referee.live.matches.cluster import Unfit, forget_main
from referee.live.seats.scratch import Scratch
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.measures import build
from referee.version import installed_version


@dataclass(frozen=True, slots=True)
class Order:
    """The settings of all slots of a run."""

    dogana: str
    """The version of Dogana that each machine must have."""
    limits: ResourceLimits | None
    """The limits on bots; None to run bots unconfined."""
    runtimes: tuple[Path, ...]
    """The runtimes of the ladder; a machine must have them in the same folders."""
    join_seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a match."""

    end: End
    record: bytes = b""
    """The record; empty if the match was not finished."""
    position: bytes = b""
    """The position in which a house bot failed; empty if none did."""


class LadderSlot:
    """A slot; see `referee.live.matches.cluster.Slot`."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def begin(self) -> list[str] | Unfit:
        """Build the sandbox, and get ready to play; return remarks on missing isolation."""
        order, here = self._order, installed_version()
        if here != order.dogana:
            return Unfit(f"it has dogana {here}, and the ladder {order.dogana}; install the same there")
        import ray

        job = ray.get_runtime_context()
        try:
            self._scratch = Scratch(f"{job.get_node_id()}-{job.get_job_id()}")
            self._home = Home(self._scratch.folder)
            private_folder(self._home.records)
            runtimes = self._home.folder / "runtimes"
            private_folder(runtimes)
            for runtime in order.runtimes:
                with suppress(FileExistsError):  # another slot of this machine was faster
                    (runtimes / runtime.name).symlink_to(runtime)
            sandbox = None if order.limits is None else build(order.limits, order.runtimes)
            forget_main()
            self._pool = Pool(self._home, 1, None, order.join_seconds, sandbox)
            self._pool.__enter__()
        except DoganaError as error:
            return Unfit(str(error))
        except OSError as error:
            return Unfit(f"cannot write {error.filename}: {error.strerror}")
        return [] if sandbox is None else sandbox.losses()

    def play(self, match: Match, files: Mapping[str, Any]) -> Reply | Unfit:
        """Play a match, after fetching the files of its versions that are missing here.

        Args:
            match: the match.
            files: references to the packed files of its versions, by content hash.
        """
        record, position = self._home.record(match.match_id), self._home.position(match.match_id)
        try:
            for version in match.seats:
                if version.content_hash in files and not (self._home.versions / version.content_hash).is_dir():
                    problem = self._fetch(version, files[version.content_hash])
                    if problem is not None:
                        return problem
            [(_, end)] = self._pool.play([match])
            return Reply(
                end,
                record.read_bytes() if isinstance(end, Finished) else b"",
                position.read_bytes() if position.exists() else b"",
            )
        except (NoRoom, OSError) as error:
            if not is_for_want_of_room(error):
                raise
            return Unfit(f"its disk is full: {error}")  # the match was not played, so another machine can play it
        finally:
            record.unlink(missing_ok=True)
            position.unlink(missing_ok=True)

    def _fetch(self, version: Version, reference: Any) -> Reply | Unfit | None:
        """Fetch the files of a version; return None, or the problem if the files or this machine cannot be used."""
        import ray

        with tempfile.NamedTemporaryFile(dir=self._home.folder, suffix=".tar") as packed:
            try:
                packed.write(ray.get(reference))
                packed.flush()
                found = take_in_for(self._home.versions, Path(packed.name), self._order.runtimes).content_hash
            except NoProgram as error:
                return Unfit(f"it cannot start {version.label}: {str(error).removeprefix(packed.name).lstrip(': ')}")
            except BadBot as error:
                # A file system error is the machine's fault; any other error would occur on every machine.
                what = str(error).replace(packed.name, version.label)
                return Unfit(what) if isinstance(error.__cause__, OSError) else Reply(Void(what))
            except OSError as error:
                return Unfit(f"{version.label} cannot be kept there: {error.strerror}")
        if found != version.content_hash:
            return Reply(Void(f"the files of {version.label} have changed on their way"))
        return None

    def rest(self) -> None:
        """End the worker, and all processes that bots have left behind."""
        self._pool.clear()

    def close(self) -> None:
        """End the worker, and remove the folder if this is the last slot of the machine."""
        self._pool.__exit__()
        self._scratch.leave()


def pack(folder: Path) -> bytes:
    """Return the files of a version as an archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return packed.getvalue()
