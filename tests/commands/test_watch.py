"""`dogana watch`, and `dogana play --watch`."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.struct_pb2 import Struct

from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn
from dogana.v1 import referee_pb2 as pb
from referee.commands.screen import Screen
from referee.commands.watch import screen_beside
from referee.live.matches.server import RefereeServer
from referee.live.messages import wire
from referee.live.messages.codec import codec
from referee.match.effects import Happened
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.registry import find
from tests.cases import mostly_long
from tests.commands.conftest import ROOT, Dogana
from tests.commands.test_hostile_text import CLEAR, check
from tests.matches import Referee
from tests.patience import patient, wait_until
from tests.processes import children
from tests.referee.test_wire import certificate
from tests.tables import Table, plan_of

QUICK = ("-o", "last_turn=3", "--seed", "7")
DOGANA = [sys.executable, "-m", "ladder"]


def of_action(line: str) -> str:
    """The words in a line of an action; empty for other lines."""
    found = re.fullmatch(r" *\d+  seat \d  (.+)", line)
    return "" if found is None else found[1]


def actions_in(text: str) -> list[str]:
    return [words for words in map(of_action, text.splitlines()) if words]


def recorded(file: Path) -> list[str]:
    """What the page of a match says of each step that everybody learns of at once."""
    replay = Replay(file, find)
    seen = Viewpoint(replay, None)
    return [seen.tell()[0] for step in replay if seen.follow(step)]


# --- play --watch ---------------------------------------------------------------------------------------------


def test_a_match_is_shown_while_it_is_played_and_then_its_result(dogana: Dogana, tmp_path: Path) -> None:
    arguments = ("play", "cargo_noir", "greedy", "random", *QUICK, "--record", "match.jsonl")
    printed = dogana(*arguments, "--watch").stdout
    assert printed.startswith("Cargo Noir, 2 seats, match ")
    assert "clock 60+0.5/10\n" in printed
    assert "\n       Turn 1\n" in printed
    assert "\n       Turn 2\n" in printed
    assert "       Seat 0: +" in printed
    assert " -> " not in printed
    assert "_" not in printed.partition("rank")[0]
    assert actions_in(printed) == recorded(tmp_path / "match.jsonl")
    assert "Cargo Noir, seed 7" in printed
    assert not dogana(*arguments, "--force").stdout.startswith("Cargo Noir, 2 seats")


@pytest.mark.long
def test_an_agent_that_the_referee_starts_does_not_disturb_the_screen(dogana: Dogana, bot: str, tmp_path: Path) -> None:
    """Whatever agents leave behind is killed; the screen is a child of the referee, too."""
    arguments = ("play", "cargo_noir", bot, f"cmd:{sys.executable} -c pass", "random", *QUICK, "--record", "m.jsonl")
    assert "before it joined" in dogana(*arguments, "--watch", status=1).stderr
    crash = f"cmd:{sys.executable} {ROOT / 'agents' / 'hostile.py'} crash"
    printed = dogana(
        "play", "cargo_noir", bot, crash, "random", *QUICK, "--record", "m.jsonl", "--watch", status=3
    ).stdout
    assert actions_in(printed) == recorded(tmp_path / "m.jsonl")


def test_off_a_terminal_a_title_is_one_line_however_long_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_of()
    with Screen("title " * 100, plan.game, plan.setup, []):
        pass
    assert capsys.readouterr().out == "title " * 100 + "\n"


def test_on_a_terminal_the_match_is_redrawn_in_place_and_names_do_no_harm(tmp_path: Path, bot: str) -> None:
    ours, theirs = pty.openpty()
    play = [*DOGANA, "play", "cargo_noir", bot + f" '{CLEAR}'", "random", *QUICK, "--watch"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(play, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as match:
        os.close(theirs)
        drawn = b"".join(iter(lambda: read(ours), b"")).decode()
    assert match.returncode == 0
    assert "deciding for" in drawn
    assert "\x1b[1A\x1b[2K" in drawn  # a line up, and erased
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1  # the cursor is hidden, and shown again
    assert CLEAR not in drawn
    assert r"\x1b[2J" in drawn
    lines = [line for line in drawn.splitlines() if not line.startswith("The referee was late")]  # on a busy machine
    assert lines[-1].endswith("┘")  # the result stays


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # so a terminal says that nobody is at its other end
        return b""


class Watched:
    """`dogana play --watch` in the middle of a match."""

    def __init__(self, folder: Path, seconds: float = 0.3) -> None:
        """Begin a match with a bot that thinks this long about each of its decisions but the first."""
        (folder / "slow.py").write_text(
            "import time\nfrom dogana.sdk import play\n"
            f"play(lambda decision: time.sleep({seconds} if decision.number > 1 else 0) or 0)\n"
        )
        bot = f"cmd:{sys.executable} {folder / 'slow.py'}"
        self.process = subprocess.Popen(
            [
                *DOGANA,
                "play",
                "cargo_noir",
                bot,
                "greedy",
                *QUICK,
                "--watch",
                "--wait",
                "60",
                "--record",
                str(folder / "match.jsonl"),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = "\n"
        while not of_action(line.rstrip("\n")):
            line = self.process.stdout.readline()
            assert line, "it ended"

    def screen(self) -> int:
        """The process that shows it."""
        return screen_of(self.process.pid)


def screen_of(play: int) -> int:
    """The process that shows the match of a process."""
    [screen] = children(play, "referee.commands.watch")
    return screen


@pytest.mark.long
def test_a_match_is_played_on_without_its_screen(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    os.kill(watched.screen(), signal.SIGKILL)
    rest, error = watched.process.communicate(timeout=patient(120))
    assert (watched.process.returncode, error) == (0, "")
    assert "Cargo Noir, seed 7" in rest
    assert recorded(tmp_path / "match.jsonl")


def test_a_screen_that_hangs_does_not_keep_ctrl_c_from_ending_the_match(tmp_path: Path) -> None:
    watched = Watched(tmp_path, seconds=3600)
    screen = watched.screen()
    os.kill(screen, signal.SIGSTOP)
    watched.process.send_signal(signal.SIGINT)
    assert (
        watched.process.communicate(timeout=patient(60))[1]
        == "the match was interrupted: it has no result and no record\n"
    )
    assert watched.process.returncode == 128 + signal.SIGINT
    assert not Path(f"/proc/{screen}").exists()
    assert not list(tmp_path.glob("match.jsonl*"))


def test_ctrl_c_while_the_screen_starts_ends_the_match_in_one_line(tmp_path: Path) -> None:
    play = [*DOGANA, "play", "cargo_noir", "greedy", "random", "--watch"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        play,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as match:
        wait_until(lambda: children(match.pid, "referee.commands.watch") or match.poll() is not None)
        os.killpg(match.pid, signal.SIGINT)  # as a terminal does
        printed = match.communicate(timeout=patient(60))
    assert printed == ("", "the match was interrupted: it has no result\n")
    assert match.returncode == 128 + signal.SIGINT


@pytest.mark.long
def test_ctrl_c_at_a_screen_that_hangs_after_the_end_ends_the_screen_alone(capfd: pytest.CaptureFixture[str]) -> None:
    async def plays() -> int:
        task = asyncio.current_task()
        assert task is not None
        async with RefereeServer() as server, screen_beside(server, plan_of("yunnan", 2)):
            screen = screen_of(os.getpid())
            os.kill(screen, signal.SIGSTOP)
            asyncio.get_running_loop().call_later(0.1, task.cancel)
        return screen

    assert not Path(f"/proc/{asyncio.run(plays())}").exists()


@pytest.mark.long
@pytest.mark.parametrize("game", ["venezia", "valparaiso", "yunnan"])
def test_each_action_is_printed_as_on_the_page_though_several_are_played_at_once(
    dogana: Dogana, tmp_path: Path, game: str
) -> None:
    """Forced actions follow at once, and a plan is revealed as a whole."""
    printed = dogana("play", game, "greedy", "random", "--seed", 7, "--watch", "--record", "match.jsonl").stdout
    assert actions_in(printed) == recorded(tmp_path / "match.jsonl")


# --- watch ----------------------------------------------------------------------------------------------------


def watching(address: str, *arguments: str) -> subprocess.Popen[str]:
    """`dogana watch`, when it has said that it waits for the match."""
    watch = subprocess.Popen(
        [*DOGANA, "watch", address, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert watch.stderr is not None
    assert watch.stderr.readline() == f"waiting for the match at {address} to begin\n"
    return watch


def test_who_watches_before_the_first_agent_has_joined_sees_the_whole_match(tmp_path: Path) -> None:
    with Referee(tmp_path, "--seed", "7") as referee:
        watch = watching(referee.address)
        referee.play()
        printed, error = watch.communicate(timeout=patient(120))
    assert (watch.returncode, error) == (0, "")
    assert actions_in(printed) == recorded(tmp_path / "match.jsonl")
    assert "the match is over; seed 7, digest " in " ".join(printed.split())
    assert "played" in printed


def test_ctrl_c_ends_a_watch_and_not_the_match(tmp_path: Path) -> None:
    with Referee(tmp_path) as referee:
        watch = watching(referee.address)
        watch.send_signal(signal.SIGINT)
        assert watch.communicate(timeout=patient(60)) == ("", "")
        assert watch.returncode == 128 + signal.SIGINT
        referee.play()
        assert referee.ending()[0] == 0


@pytest.mark.long
def test_a_match_that_ends_without_a_result_is_said_in_one_line(tmp_path: Path) -> None:
    with Referee(tmp_path) as referee:
        watch = watching(referee.address)
        referee.interrupt()
        assert watch.communicate(timeout=patient(60)) == ("", "dogana: the match did not begin\n")
        assert watch.returncode == 1


def test_a_match_that_is_not_played_is_said_in_one_line(tmp_path: Path, dogana: Dogana) -> None:
    with Referee(tmp_path) as referee:
        said = dogana("watch", referee.address, "none", status=1).stderr
        assert said == f"dogana: the referee at {referee.address} refused (NOT_FOUND): no match 'none' is played here\n"


def test_an_encrypted_match_is_watched_with_the_certificate_of_its_authority(tmp_path: Path) -> None:
    certificate(tmp_path)
    tls = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with Referee(tmp_path, "--listen", "localhost:0", *tls) as referee:
        assert referee.printed[0] == f"spectators: dogana watch {referee.address} --ca FILE\n"
        watch = watching(referee.address, "--ca", str(tmp_path / "cert.pem"))
        watch.kill()
        watch.communicate()


@pytest.mark.long
def test_an_encrypted_match_is_watched_with_a_certificate_of_a_public_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate(tmp_path)
    monkeypatch.setenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", str(tmp_path / "cert.pem"))
    tls = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with Referee(tmp_path, "--listen", "localhost:0", *tls) as referee:
        watch = watching(referee.address, "--tls")
        watch.kill()
        watch.communicate()


@pytest.mark.parametrize("address", ["nonsense", "https://ladder.example:8780", "", "unix:", "host:port"])
def test_what_is_no_address_is_said_in_one_line(dogana: Dogana, address: str) -> None:
    said = dogana("watch", address, status=1).stderr
    assert said.startswith(f"dogana: {address!r} is not the address of a referee: host:port or unix:path")
    assert len(said.splitlines()) == 1


def test_where_nobody_listens_is_said_in_one_line(dogana: Dogana, tmp_path: Path) -> None:
    said = dogana("watch", f"unix:{tmp_path / 'none'}", status=1).stderr
    assert re.fullmatch(r"dogana: no referee answers at unix:.*; is it running, and the address right\?\n", said)
    said = dogana("watch", "localhost:1", "--ca", "none.pem", status=1).stderr
    assert said == "dogana: cannot read the certificate none.pem: No such file or directory\n"


# --- where others reach the referee ---------------------------------------------------------------------------


def test_a_referee_that_listens_tells_spectators_where(tmp_path: Path) -> None:
    with Referee(tmp_path, "--listen", "127.0.0.1:0") as referee:
        assert referee.printed[0] == f"spectators: dogana watch {referee.address}\n"


@pytest.mark.parametrize("every", ["0.0.0.0", "[::]"])  # noqa: S104 that is the case
def test_a_referee_that_listens_everywhere_names_an_address_that_others_can_dial(tmp_path: Path, every: str) -> None:
    with Referee(tmp_path, "--listen", f"{every}:0") as referee:
        host, _, port = referee.address.rpartition(":")
        assert referee.printed[0] == (
            f"{every} is every address of this machine; others may have to use another address than {host}\n"
        )
        assert host != every
        assert int(port)


# --- a hostile referee ----------------------------------------------------------------------------------------


@contextmanager
def referee_that_says(*messages: bytes) -> Iterator[str]:
    """Serves Watch with these bytes; gives its address."""

    def watch(request: bytes, context: Any) -> Iterator[bytes]:
        yield from messages

    handler: Any = grpc.unary_stream_rpc_method_handler(watch)
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("dogana.v1.Referee", {"Watch": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        ended: threading.Event = server.stop(None)
        ended.wait()


def happened(**changed: Any) -> pb.Happened:
    """The first message of a match, with some of it changed."""
    plan = plan_of()
    match = Table(plan).match
    now = Happened((), match.state.observation(None), match.seats_now(), None, 0)
    message = wire.first_happened(plan, codec(plan.game), now, labels=True)
    message.MergeFrom(pb.Happened(**changed))
    return message


def played_by_nobody() -> pb.Happened:
    """An action after which there are no seats any more."""
    game = plan_of().game
    state = Table(plan_of()).match.state
    [seat, *_] = state.seats_to_act()
    message = happened(step=1)
    message.played.seats.append(seat)
    message.played.actions.value = codec(game).actions_bytes(state.legal_actions(seat)[:1])
    seen = cn.Observation.FromString(message.observation.value)
    del seen.seats[:]
    message.observation.value = seen.SerializeToString()
    return message


def with_a_number(number: float) -> Struct:
    """A board with a number that no board has."""
    board = Struct()
    board.update({"goods": {"tokens_per_kind": number, CLEAR: number}})
    return board


OVER = pb.GameOver(seats=[pb.SeatResult(seat=9, rank=9, outcome=99)] * 2, seed=CLEAR, digest=CLEAR)  # type: ignore[arg-type]
HOSTILE = {
    "nothing": ([], 1, "ended the stream before the match was over"),
    "bytes": ([b"\xff\xff"], 1, ""),
    "game": ([happened(game=CLEAR)], 1, "the match is one of"),
    "seats": ([happened(seats=4_000_000_000)], 1, "4000000000 seats"),
    "seats-now": ([happened(seats_now=[pb.SeatNow()])], 1, "3 of 2 seats"),
    "played": ([happened(played=pb.Played(seats=[0]))], 1, "0 actions of 1 seats"),
    "observation": ([happened(), played_by_nobody()], 1, "cannot read what"),
    "options": ([happened(options={CLEAR: CLEAR})], 1, "cannot read what"),
    "board": ([happened(board=with_a_number(float("inf")))], 1, "cannot read what"),
    "half-board": ([happened(board=with_a_number(0.5))], 1, "cannot read what"),
    "results": ([happened(game_over=pb.GameOver(seats=[pb.SeatResult()] * 9))], 1, "9 results"),
    "escapes": ([happened(match_id=CLEAR * 100, game_over=OVER)], 0, ""),
    "times": ([happened(clock=pb.TimeControl(bank_ms=float("nan"), cap_ms=float("inf")), game_over=OVER)], 0, ""),
}


@pytest.mark.parametrize(("messages", "status", "said"), mostly_long(HOSTILE.values(), 4), ids=HOSTILE)
def test_a_hostile_referee_is_reported_in_one_line(dogana: Dogana, messages: list[Any], status: int, said: str) -> None:
    sent = [one if isinstance(one, bytes) else one.SerializeToString() for one in messages]
    with referee_that_says(*sent) as address:
        ended = dogana("watch", address, status=status)
    check(ended.stdout)
    check(ended.stderr)
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == (status != 0)
