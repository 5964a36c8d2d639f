"""`python -m tests.ladder.serving_soak`: a served ladder is killed again and again, with clients connected and uploads under way.

DOGANA_SOAK_KILLS says how often (100 by default), DOGANA_SOAK_SEED makes the same choices again. It ends with status 0 if every bot
that was taken in is there once, nothing was lost or counted twice, and everything agrees.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

from dogana.v1 import ladder_pb2 as pb
from ladder.authors import Authors
from ladder.errors import LadderError
from ladder.home import Home
from ladder.service.client import RemoteDesk
from ladder.service.login import Login
from ladder.store import Store
from tests.ladder.soak import BOT, check, finish, results, start, wait_for_results, workers_of
from tests.ladder.test_serving import served

AUTHORS = 3


class Client:
    """An author who sends versions and asks questions, until the server is gone.

    Attributes:
        taken: the content hash and the number of each version that the server said it took in.
    """

    def __init__(self, folder: Path, author: str, token: str) -> None:
        self.taken: dict[str, int] = {}
        self._folder = folder
        self._login = Login(author, token)
        self._sent = 0

    def use(self, address: str) -> None:
        """Send and ask."""
        with contextlib.suppress(LadderError), RemoteDesk(address, self._login) as desk:
            while True:
                file = self._folder / f"{self._login.author}.py"
                file.write_text(f"{BOT}# {self._sent}\n")
                answer = desk.submit(file, self._login.author, "")
                assert self.taken.setdefault(answer.content_hash, answer.version) == answer.version
                self._sent += 1
                for _ in range(20):
                    desk.top(pb.TopRequest(game="cargo_noir"))
                    desk.matches(pb.MatchesRequest(limit=50))
                    desk.playing(pb.PlayingRequest())
                    time.sleep(0.02)


def soak(folder: Path, kills: int, seed: int) -> int:
    """Kill a served ladder this often; return how many matches count in the end."""
    chance = random.Random(seed)
    home = Home(folder / "home")
    home.make()
    with Authors(home.database, create=True) as authors:
        clients = [Client(folder, f"author{number}", authors.add(f"author{number}")) for number in range(AUTHORS)]
    done = 0
    for number in range(1, kills + 1):
        with served(home.folder) as (process, address):
            threads = [threading.Thread(target=client.use, args=(address,)) for client in clients]
            for thread in threads:
                thread.start()
            if chance.random() < 0.7:
                wait_for_results(folder, done + 1)
            time.sleep(chance.random() * 1.5)
            stopped = chance.choice([0, 0, *workers_of(process.pid)])
            if stopped:
                os.kill(stopped, signal.SIGSTOP)
            process.send_signal(signal.SIGKILL if stopped else chance.choice([signal.SIGKILL, signal.SIGTERM]))
            process.wait(120)
        for thread in threads:
            thread.join()
        assert results(folder) >= done, "a match that counted is lost"
        done = results(folder)
        print(f"{number} of {kills}: {done} matches, {sum(len(one.taken) for one in clients)} versions", flush=True)
    with Store(home.database, create=False) as store:
        known = {(one.author, one.content_hash): one.number for one in store.versions().values()}
    for number, client in enumerate(clients):
        for content_hash, version in client.taken.items():
            assert known[f"author{number}", content_hash] == version, "a bot that was taken in is lost"
    finish(start(folder, "run", "--game", "cargo_noir", "--matches", "1", "--unconfined"))
    check(folder)
    return results(folder)


def main() -> None:
    """Run it as the environment says."""
    kills = int(os.environ.get("DOGANA_SOAK_KILLS", "100"))
    seed = int(os.environ.get("DOGANA_SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"{kills} kills, DOGANA_SOAK_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="dogana-soak-") as folder:
        matches = soak(Path(folder), kills, seed)
    print(f"{matches} matches count, each once; every bot is there; everything agrees")


if __name__ == "__main__":
    main()
