"""`python -m tests.ladder.serving_soak`: a served ladder is killed again and again, with clients connected and uploads under way.

The clients stay: they find the server again on the same ports, and send again what they do not know to have arrived.

DOGANA_SOAK_KILLS says how often (100 by default), DOGANA_SOAK_SEED makes the same choices again. It ends with status 0 if every bot
that was taken in is there once, nothing was lost or counted twice, and everything agrees.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from dogana.v1 import referee_pb2
from dogana.v1.referee_pb2_grpc import RefereeStub
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.operation.errors import LadderError
from ladder.operation.home import Home
from ladder.questions.info import InfoRequest
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.standings import TopRequest
from ladder.service.login import Login
from ladder.service.remote import RemoteLadder
from tests.ladder.soak import BOT, check, finish, results, start, wait_for_results, workers_of
from tests.ladder.test_serving import door_of, served, wait_until_free
from tests.ports import kept_ports
from tests.soaking import soak_from_environment

AUTHORS = 3


class Client:
    """An author who sends versions, asks questions and watches matches, whatever becomes of the server.

    Attributes:
        taken: the content hash and the number of each version that the server said it took in.
        refusals: how often a question was not answered.
    """

    def __init__(self, folder: Path, author: str, token: str) -> None:
        self.taken: dict[str, int] = {}
        self.refusals = 0
        self._file = folder / f"{author}.py"
        self._login = Login(author, token)
        self._matches = 0

    def use(self, url: str, over: threading.Event) -> None:
        """Send and ask; connect again whenever something is not answered."""
        while not over.wait(0.1):
            try:
                with RemoteLadder(url, self._login) as ladder, grpc.insecure_channel(door_of(url)) as channel:
                    self._send(ladder)
                    while not over.is_set():
                        for _ in range(10):
                            self._ask(ladder)
                            time.sleep(0.1)
                        for match in ladder.ask(PlayingRequest()).matches:
                            with contextlib.suppress(grpc.RpcError):
                                for _ in RefereeStub(channel).Watch(referee_pb2.WatchRequest(match_id=match.match)):
                                    pass
            except LadderError:
                self.refusals += 1

    def _send(self, ladder: RemoteLadder) -> None:
        self._file.write_text(f"{BOT}# {len(self.taken)}\n")
        answer = ladder.submit(self._file, self._login.author, "")
        assert answer.version == len(self.taken) + 1, "what was sent again is another version"
        self.taken[answer.content_hash] = answer.version

    def _ask(self, ladder: RemoteLadder) -> None:
        ladder.ask(TopRequest(game="cargo_noir"))
        ladder.ask(MatchesRequest(limit=50))
        matches = ladder.ask(InfoRequest()).matches
        assert matches >= self._matches, "a match that counted is lost"
        self._matches = matches


def kill_once(folder: Path, addresses: tuple[str, str], chance: random.Random, done: int) -> int:
    """Serve a ladder that has so many matches, and kill it at some moment; return how many it has then."""
    listen, web = addresses
    with served(folder / "home", "--listen", listen, "--web", web) as (process, url):
        if chance.random() < 0.7:
            wait_for_results(folder, done + 1)
        time.sleep(chance.random() * 1.5)
        stopped = chance.choice([0, 0, *workers_of(process.pid)])
        if stopped:
            os.kill(stopped, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL if stopped else chance.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait(120)
    wait_until_free(url)
    assert results(folder) >= done, "a match that counted is lost"
    return results(folder)


def soak(folder: Path, kills: int, seed: int) -> int:
    """Kill a served ladder this often; return how many matches count in the end."""
    chance = random.Random(seed)
    home = Home(folder / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        clients = [Client(folder, f"author{number}", authors.add(f"author{number}")) for number in range(AUTHORS)]
    done = 0
    over = threading.Event()
    with kept_ports(2) as ports, ThreadPoolExecutor(AUTHORS) as threads:
        addresses = f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"
        using = [threads.submit(client.use, f"http://{addresses[1]}", over) for client in clients]
        try:
            for number in range(1, kills + 1):
                done = kill_once(folder, addresses, chance, done)
                said = f"{sum(len(one.taken) for one in clients)} versions, {sum(one.refusals for one in clients)} refusals"
                print(f"{number} of {kills}: {done} matches, {said}", flush=True)
                for one in using:
                    if one.done():
                        one.result()
        finally:
            over.set()
    for one in using:
        one.result()
    with Store(home.database, create=False) as store:
        known = {(one.author, one.content_hash): one.number for one in store.roster.versions().values()}
    for number, client in enumerate(clients):
        for content_hash, version in client.taken.items():
            assert known[f"author{number}", content_hash] == version, "a bot that was taken in is lost"
    finish(start(folder, "run", "--game", "cargo_noir", "--matches", "1", "--unconfined"))
    check(folder)
    return results(folder)


if __name__ == "__main__":
    soak_from_environment(soak, 100, "a served ladder", "every bot is there; everything agrees")
