"""A bot written by hand that plays by chance, and does one thing wrong: `python double.py SIN`.

It runs in a box, so it has nothing but gRPC and the messages. `SINS` says what each sin is, and which steps of conformance it fails.
"""

import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

TOKEN = os.environ.get("DOGANA_TOKEN", "")
FOREVER = 600


class Double:
    """One match."""

    def __init__(self, sin: str) -> None:
        import grpc

        from dogana.v1 import referee_pb2 as pb

        self.grpc, self.pb, self.sin = grpc, pb, sin
        self.outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.decide: Any = None
        self.welcome: Any = None
        self.before = ""  # the kind of the message before this one
        self.answers = 0
        self.heard = time.monotonic()

    def is_sin(self, name: str) -> bool:
        return self.sin == name

    def choose(self, number: int, index: "int | None" = None) -> None:
        """Answer with an index; by chance if none is given."""
        chosen = random.randrange(self.decide.action_count) if index is None else index
        self.say(self.pb.AgentMessage(choose=self.pb.Choose(decision=number, index=chosen)))

    def say(self, message: Any) -> None:
        self.outbox.put(message)

    def join(self) -> None:
        join = self.pb.Join(token=TOKEN, protocol=1)
        if self.is_sin("wrong token"):
            join.token = TOKEN[::-1]
        if self.is_sin("other protocol"):
            join.protocol = 2
        if self.is_sin("choose first"):
            self.say(self.pb.AgentMessage(choose=self.pb.Choose(decision=1)))
        self.say(self.pb.AgentMessage(join=join))
        if self.is_sin("hasty"):
            self.say(self.pb.AgentMessage(choose=self.pb.Choose(decision=1)))

    def play(self) -> None:
        """Join, and answer until the end."""
        if self.is_sin("never joins"):
            time.sleep(FOREVER)
        if self.is_sin("ends before joining"):
            sys.exit(3)
        self.join()
        with self.grpc.insecure_channel(
            os.environ["DOGANA_ADDRESS"], [("grpc.max_receive_message_length", -1)]
        ) as channel:
            call: Any = channel.stream_stream(
                "/dogana.v1.Referee/Play",
                request_serializer=lambda message: (
                    b"\xff" if self.is_sin("sends no message") else message.SerializeToString()
                ),
                response_deserializer=self.pb.RefereeMessage.FromString,
            )
            self.call = call
            try:
                for message in call(iter(self.outbox.get, None)):
                    self.heard = time.monotonic()
                    if self.hear(message):
                        return
            except self.grpc.RpcError as error:
                self.stream_fails(error.code().name, error.details() or "")
            if self.is_sin("stays at the end of the stream"):
                time.sleep(FOREVER)
        sys.exit(1)

    def stream_fails(self, code: str, details: str) -> None:
        stays = {
            "stays when void": code == "ABORTED",
            "stays when unavailable": details == "the referee goes",
            "stays when cut off": code in ("UNAVAILABLE", "CANCELLED", "UNKNOWN") and details != "the referee goes",
            "stays when refused": code == "UNAUTHENTICATED",
        }
        if stays.get(self.sin):
            time.sleep(FOREVER)
        sys.exit(f"the stream ended: {code}")

    def hear(self, message: Any) -> bool:
        """Take a message; tell whether the match is over."""
        which = message.WhichOneof("message")
        if which is None and self.is_sin("knows all messages"):
            raise ValueError("what is this?")
        if which is not None:
            getattr(self, f"hear_{which}")(getattr(message, which))
        self.before = which or ""
        return bool(which == "game_over")

    def hear_welcome(self, welcome: Any) -> None:
        self.welcome = welcome
        if self.is_sin("two streams"):
            self.second = self.call(iter([self.pb.AgentMessage(join=self.pb.Join(token=TOKEN, protocol=1))]))
        if self.is_sin("knows all of Welcome"):
            self.expect_known(welcome)
        if self.is_sin("wants protocol 1") and welcome.protocol != 1:
            sys.exit("this referee is too new")
        if self.is_sin("other options") and welcome.options["bank_limited"] == "false":
            raise ValueError("the bank must be limited")
        if self.is_sin("tells its token"):
            print(os.environ, flush=True)
        if self.is_sin("large"):
            self.memory = bytearray(os.urandom(1 << 20)) * 300

    def expect_known(self, message: Any) -> None:
        from google.protobuf.unknown_fields import UnknownFieldSet

        if len(UnknownFieldSet(message)):
            raise ValueError("unknown fields")

    def hear_decide(self, decide: Any) -> None:
        self.decide, number = decide, decide.decision
        self.answers += 1
        if (sin := AT_DECIDE.get(self.sin)) and sin(self, decide):
            return
        self.choose(number)

    def hear_rejected(self, rejected: Any) -> None:
        reason = self.pb.Rejected.Reason.Name(rejected.reason).removeprefix("REASON_").lower()
        if self.is_sin("answers what is stale") and reason == "stale":
            self.choose(rejected.decision)
        if reason == "stale" or self.sin == f"ignores {reason}":
            return
        if self.is_sin("stubborn"):
            self.choose(rejected.decision, 0)
        elif rejected.decision == self.decide.decision:
            self.choose(rejected.decision)

    def hear_withdrawn(self, withdrawn: Any) -> None:
        if self.is_sin("answers withdrawals") and withdrawn.reason == self.pb.Withdrawn.REASON_TIMEOUT:
            self.choose(withdrawn.decision)
        if self.is_sin("is never overtaken") and withdrawn.reason == self.pb.Withdrawn.REASON_OVERTAKEN:
            raise ValueError("overtaken")
        if self.is_sin("knows all values"):
            self.pb.Withdrawn.Reason.Name(withdrawn.reason)

    def hear_new_deadline(self, new_deadline: Any) -> None:
        if self.is_sin("answers deadlines"):
            self.choose(new_deadline.decision)

    def hear_game_over(self, over: Any) -> None:
        if self.is_sin("wants the seed"):
            int(over.seed)
        if self.is_sin("fails at the end"):
            sys.exit(1)
        if self.is_sin("stays"):
            time.sleep(FOREVER)


Sin = Callable[[Double, Any], "bool | None"]


def _stops_answering(double: Double, decide: Any) -> bool:
    return double.answers > 2


def _crashes_late(double: Double, decide: Any) -> None:
    if double.answers == 20:
        raise ValueError("I have a bug")


def _cheats_once(double: Double, decide: Any) -> None:
    if double.answers == 3:
        double.choose(decide.decision, decide.action_count)


def _plays_turns(double: Double, decide: Any) -> bool:
    """Answer with a list: the first action twice, of which the second can seldom be played."""
    from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn

    if decide.dropped and double.is_sin("hates what is dropped"):
        raise ValueError(decide.dropped)
    legal = cn.ActionList.FromString(decide.actions.value).actions
    one = random.choice(legal)
    choose = double.pb.Choose(decision=decide.decision)
    choose.actions.Pack(cn.ActionList(actions=[one, one]))
    double.say(double.pb.AgentMessage(choose=choose))
    return True


def _leaves_a_child(double: Double, decide: Any) -> None:
    if double.answers == 1:
        program = f"import os, time\nif os.fork(): os._exit(0)\nos.setsid()\ntime.sleep({FOREVER})"
        subprocess.run([sys.executable, "-c", program], check=True)


def _is_impatient(double: Double, decide: Any) -> None:
    def watch() -> None:
        while time.monotonic() - double.heard < 2:
            time.sleep(0.1)
        os._exit(4)

    if double.answers == 1:
        threading.Thread(target=watch, daemon=True).start()


def _shouts(double: Double, decide: Any) -> None:
    if double.answers == 1:
        sys.stdout.write("x" * 1_000_000)
        sys.stdout.flush()


def _slow_if(condition: bool) -> None:
    if condition:
        time.sleep(0.5)


def _hopes(double: Double, decide: Any) -> bool:
    return double.before == "withdrawn"


def _sends_twice(double: Double, decide: Any) -> None:
    double.choose(decide.decision)


def _next_number(double: Double, decide: Any) -> bool:
    double.choose(decide.decision + 1)
    return True


def _out_of_range(double: Double, decide: Any) -> bool:
    double.choose(decide.decision, decide.action_count)
    return True


def _always_first(double: Double, decide: Any) -> bool:
    double.choose(decide.decision, 0)
    return True


def _fails(condition: bool) -> None:
    if condition:
        raise ValueError("I did not think of this")


def _knows_all_of_the_observation(double: Double, decide: Any) -> None:
    from dogana.games.cargo_noir.v1 import cargo_noir_pb2 as cn

    double.expect_known(cn.Observation.FromString(decide.observation.value))


def _seats(double: Double) -> int:
    return int(double.welcome.seats)


AT_DECIDE: "dict[str, Sin]" = {
    "never answers": lambda double, decide: True,
    "wrong number": _next_number,
    "cheats": _out_of_range,
    "answers twice": _sends_twice,
    "stops answering": _stops_answering,
    "never alone": lambda double, decide: _fails(decide.action_count == 1),
    "short lists": lambda double, decide: _fails(decide.action_count > 30),
    "small messages": lambda double, decide: _fails(len(decide.observation.value) > 450),
    "stubborn": _always_first,
    "hopes": _hopes,
    "plays turns": _plays_turns,
    "hates what is dropped": _plays_turns,
    "slow with a small budget": lambda double, decide: _slow_if(decide.clock.budget_ms < 60),
    "slow with a low bank": lambda double, decide: _slow_if(decide.clock.bank_ms < 150),
    "slow": lambda double, decide: time.sleep(1.5) if double.answers == 3 else None,
    "knows all of Decide": lambda double, decide: double.expect_known(decide),
    "knows all of the observation": _knows_all_of_the_observation,
    "only for three": lambda double, decide: _fails(_seats(double) == 2 and double.answers == 3),
    "not for long": _crashes_late,
    "cheats once": _cheats_once,
    "leaves a child": _leaves_a_child,
    "impatient": _is_impatient,
    "shouts": _shouts,
}
"""What sinners do before they answer, or (if it returns true) instead."""


def main() -> None:
    sin = sys.argv[1]
    if sin == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Double(sin).play()


if __name__ == "__main__":
    main()
