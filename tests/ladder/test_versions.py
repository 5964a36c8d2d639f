"""A client and a server of different versions: what one of them does not know is ignored, or said in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

from dogana.v1 import ladder_pb2 as pb
from ladder.facts.store import Store
from ladder.operation.home import Home
from ladder.questions.desk import Desk
from ladder.service.beside import serving
from referee.live.matches.server import Listen
from tests.commands.conftest import Dogana
from tests.ladder.in_process import dogana
from tests.ladder.told import FAULTY, told_ladder
from tests.patience import patient

__all__ = ["dogana"]

CALLS = {
    **{name: name.lower() for name in ("Info", "Top", "Bots", "Show", "Queue", "Key", "Matches", "Match", "Log")},
    "Playing": "playing",
    "Record": "record",
    "AuditLog": "audit_log",
}
"""The calls that ask, and what they are called at the desk."""
Change = Callable[[FileDescriptorProto], None]
Classes = dict[str, type[Message]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return told_ladder(tmp_path_factory.mktemp("told") / "home", 6)


def another_version(change: Change) -> Classes:
    """The messages of a ladder as another version of `ladder.proto` has them."""
    pool = descriptor_pool.DescriptorPool()
    ours = pb.DESCRIPTOR
    for known in ours.dependencies:
        pool.AddSerializedFile(known.serialized_pb)
    file = FileDescriptorProto.FromString(ours.serialized_pb)
    change(file)
    pool.AddSerializedFile(file.SerializeToString())
    return {
        message.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"dogana.v1.{message.name}"))
        for message in file.message_type
    }


class Other(grpc.GenericRpcHandler):
    """The desk of a ladder, behind the messages of another version."""

    def __init__(self, home: Home, classes: Classes, calls: set[str], alter: Callable[[Message], None]) -> None:
        self._desk = Desk(home)
        self._classes = classes
        self._calls = calls
        self._alter = alter

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        name = handler_call_details.method.rpartition("/")[2]
        if name not in self._calls:
            return None
        ask, asked = getattr(self._desk, CALLS[name]), self._classes[f"{name}Request"]

        def understood(data: bytes) -> Any:
            request = asked.FromString(data)
            request.DiscardUnknownFields()
            return getattr(pb, f"{name}Request").FromString(request.SerializeToString())

        def said(answer: Message) -> bytes:
            theirs = self._classes[type(answer).__name__].FromString(answer.SerializeToString())
            theirs.DiscardUnknownFields()
            self._alter(theirs)
            return theirs.SerializeToString()

        handler = (
            grpc.unary_stream_rpc_method_handler
            if name in ("Record", "AuditLog")
            else grpc.unary_unary_rpc_method_handler
        )
        return handler(lambda request, _: ask(request), understood, said)


@contextmanager
def other(
    home: Home,
    change: Change = lambda file: None,
    *,
    calls: set[str] | None = None,
    alter: Callable[[Message], None] = lambda message: None,
) -> Iterator[str]:
    """A server of another version; the address."""
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Other(home, another_version(change), calls or set(CALLS), alter),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def a_match(home: Home) -> str:
    with Store(home.database, create=False) as chronicle:
        return chronicle.history.matches(1)[0].match_id


MATCH = "MATCH"
"""Stands for the id of a match."""
QUESTIONS = [
    ["top"],
    ["bots"],
    ["show", FAULTY],
    ["queue"],
    ["matches"],
    ["matches", FAULTY, "--out"],
    ["match", MATCH],
    ["log", MATCH],
    ["playing"],
]


def questions(home: Home) -> list[list[str]]:
    return [[a_match(home) if word == MATCH else word for word in words] for words in QUESTIONS]


# --- an older server --------------------------------------------------------------------------------------------


def without(file: FileDescriptorProto) -> None:
    """An older version: no queue, no key, no audit log, and fewer fields."""
    lacks = {"Standing": {"terms", "out", "reason"}, "MatchAnswer": {"blames", "logs"}, "InfoAnswer": {"matches"}}
    for message in file.message_type:
        kept = [field for field in message.field if field.name not in lacks.get(message.name, set())]
        del message.field[:]
        message.field.extend(kept)


def test_an_older_server_is_asked_what_it_knows(dogana: Dogana, home: Home) -> None:
    with other(home, without) as address:
        for words in questions(home):
            assert dogana("ladder", *words, "--server", address).stdout
            assert dogana("ladder", *words, "--server", address, "--json").stdout


@pytest.mark.parametrize("words", [["queue"], ["key"], ["audit-log", "log.jsonl"]], ids=" ".join)
def test_what_an_older_server_does_not_know_is_said_with_its_version(
    dogana: Dogana, home: Home, tmp_path: Path, words: list[str]
) -> None:
    def be_old(message: Message) -> None:
        if message.DESCRIPTOR.name == "InfoAnswer":
            message.dogana = "0.9\x1b[2J"  # type: ignore[attr-defined]

    with other(home, without, calls=set(CALLS) - {"Queue", "Key", "AuditLog"}, alter=be_old) as address:
        said = dogana("ladder", *words, "--server", address, status=1).stderr
    assert said == (
        f"dogana: the ladder at {address} runs dogana 0.9\\x1b[2J, which does not know this;"
        " ask its organiser to upgrade\n"
    )
    assert not list(tmp_path.glob("log.jsonl*"))


def test_what_answers_and_is_no_ladder_is_told(dogana: Dogana, home: Home) -> None:
    with other(home, calls={"none"}) as address:
        said = dogana("ladder", "top", "--server", address, status=1).stderr
    assert said == f"dogana: what answers at {address} is no ladder; look at the address\n"


@pytest.mark.ladders
@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_no_field_of_an_answer_must_be_there(dogana: Dogana, home: Home, words: list[str]) -> None:
    """Another version may have dropped it."""
    fields: dict[tuple[str, str], None] = {}

    def note(answer: Message) -> None:
        for part in parts(answer):
            fields.update({(part.DESCRIPTOR.name, field.name): None for field, _ in part.ListFields()})

    words = [a_match(home) if word == MATCH else word for word in words]
    with other(home, alter=note) as address:
        dogana("ladder", *words, "--server", address)
    for message, field in fields:

        def drop(answer: Message, message: str = message, field: str = field) -> None:
            for part in parts(answer):
                if part.DESCRIPTOR.name == message:
                    part.ClearField(field)

        with other(home, alter=drop) as address:
            dogana("ladder", *words, "--server", address)


def parts(message: Message) -> Iterator[Message]:
    """A message of `ladder.proto` and all those inside."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.full_name.startswith("dogana.v1."):
            if field.message_type.GetOptions().map_entry:
                continue
            for inside in value if field.is_repeated else [value]:
                yield from parts(inside)


# --- a newer server, and an older client ------------------------------------------------------------------------


def test_what_a_newer_server_says_beyond_is_ignored(dogana: Dogana, home: Home) -> None:
    def add(file: FileDescriptorProto) -> None:
        for message in file.message_type:
            message.field.add(name="newer", number=1000, type=FieldDescriptorProto.TYPE_STRING)

    def fill(answer: Message) -> None:
        for part in parts(answer):
            part.newer = "what nobody knows"  # type: ignore[attr-defined]

    with other(home, add, alter=fill) as newer, serving(home, Listen("127.0.0.1:0")) as port:
        for words in questions(home):
            if words[0] not in ("log", "match"):  # which tell the organiser, whose desk this is, where files are
                ours = dogana("ladder", *words, "--server", f"127.0.0.1:{port}").stdout
                theirs = dogana("ladder", *words, "--server", newer).stdout
                assert theirs.replace(newer, "") == ours.replace(f"127.0.0.1:{port}", "")
            assert "nobody knows" not in dogana("ladder", *words, "--server", newer, "--json").stdout


def test_words_that_a_newer_server_has_are_shown_as_they_are(dogana: Dogana, home: Home) -> None:
    """Statuses and outcomes are words, not numbers, so that a newer one can be read."""

    def rename(answer: Message) -> None:
        for part in parts(answer):
            for field, word in (("status", "resting"), ("outcome", "asleep")):
                if field in part.DESCRIPTOR.fields_by_name:
                    setattr(part, field, word)

    with other(home, alter=rename) as address:
        for words in questions(home):
            dogana("ladder", *words, "--server", address)
        assert "resting" in dogana("ladder", "show", FAULTY, "--server", address).stdout
        assert "asleep" in dogana("ladder", "match", a_match(home), "--server", address).stdout
    assert not pb.DESCRIPTOR.enum_types_by_name, "an enum needs a test of a number that is not known"


def test_a_game_that_only_a_newer_server_has_is_shown_by_its_name(dogana: Dogana, home: Home) -> None:
    def rename(answer: Message) -> None:
        for part in parts(answer):
            if "game" in part.DESCRIPTOR.fields_by_name:
                part.game = "samarkand"  # type: ignore[attr-defined]

    with other(home, alter=rename) as address:
        for words in questions(home):
            dogana("ladder", *words, "--server", address)
        for word in ("top", "queue"):
            assert "samarkand (60+0.5/10)" in dogana("ladder", word, "--server", address).stdout


def test_a_request_of_which_a_server_does_not_know_a_part_is_answered(home: Home) -> None:
    """An older server ignores what it does not know; so a newer client must not rely on it to be refused."""
    newer = another_version(
        lambda file: file.message_type[names(file).index("TopRequest")].field.append(
            FieldDescriptorProto(
                name="newer",
                number=1000,
                type=FieldDescriptorProto.TYPE_STRING,
                label=FieldDescriptorProto.LABEL_OPTIONAL,
            )
        )
    )
    request = newer["TopRequest"](newer="x")
    with serving(home, Listen("127.0.0.1:0")) as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        ask: Any = channel.unary_unary("/dogana.v1.Ladder/Top")
        assert pb.TopAnswer.FromString(ask(request.SerializeToString(), timeout=patient(60))).tables


def names(file: FileDescriptorProto) -> list[str]:
    return [message.name for message in file.message_type]
