"""A question: a request, a function that answers it from a ladder for a caller, and the type of the answer.

The command, its `--json`, the API with its description and the remote command line follow from these three
(`docs/adding_a_question.md`). Requests and answers are structs of `msgspec`, which reads, writes and describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import getdoc
from pkgutil import iter_modules
from typing import Annotated, Any, BinaryIO, Generic, TypeVar, get_type_hints

import msgspec

import ladder.questions
from ladder.facts.store import Store
from ladder.operation.errors import LadderError, NotFound
from ladder.operation.home import Home
from ladder.questions.caller import Caller

MAX_TEXT = 200
"""The maximum number of characters in a text of a request."""
PIECE_BYTES = 256 * 1024
"""The size of the chunks in which files are read and sent."""

Answer = TypeVar("Answer")
Count = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
"""A count, or an index."""
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
"""A text in a request."""
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]
"""A text in a request that must not be empty."""


# A misspelt parameter is refused; if it were ignored, the answer would be to another question.
class Request(msgspec.Struct, Generic[Answer], forbid_unknown_fields=True, omit_defaults=True):
    """A request; `Answer` is the type of its answer. Fields at their defaults are left out on the wire."""


class Row(msgspec.Struct):
    """An answer, or a part of one."""


@dataclass(frozen=True, slots=True)
class File:
    """An answer that is a file; its pieces can be read only once."""

    name: str
    pieces: Iterator[bytes]


def joined(pieces: Iterable[bytes], max_bytes: int) -> bytes:
    """Join the pieces of an answer.

    Raises:
        LadderError: if they exceed `max_bytes` bytes in all; a hostile server could otherwise fill the memory.
    """
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > max_bytes:
            raise LadderError(f"the ladder answered with more than {max_bytes // 1024**2} MiB")
    return bytes(data)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder as one caller sees it."""

    home: Home
    facts: Store
    caller: Caller
    address: str = ""
    """The gRPC address for bots at home and spectators, as `HOST:PORT`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a ladder."""

    function: Callable[[Ladder, Any], Any]
    request: type[Request[Any]]
    path: str
    """The question's address below `/api/v1`; `{name}` stands for a field of the request."""
    is_of_one_moment: bool
    """True if everything is read from one snapshot of the ladder. Nothing can be written then."""
    is_change: bool
    """True if the question changes the ladder; its HTTP method is then POST."""

    @property
    def name(self) -> str:
        """The question's name in the API, the journal and the metrics."""
        return self.function.__name__

    @property
    def answer(self) -> type[Any]:
        """The type of the answer to the question."""
        answer: type[Any] = get_type_hints(self.function)["return"]
        return answer

    @property
    def is_file(self) -> bool:
        """True if the answer is a file."""
        return self.answer is File

    @property
    def summary(self) -> str:
        """The description of the question, in a sentence or more."""
        said, *_ = (getdoc(self.function) or "").partition("\n\nRaises:")
        return " ".join(said.split())


_QUESTIONS: dict[type[Request[Any]], Question] = {}

Function = TypeVar("Function", bound=Callable[[Ladder, Any], Any])


def question(path: str, *, is_of_one_moment: bool = True, is_change: bool = False) -> Callable[[Function], Function]:
    """Register a function as the answer to all requests of the type of its `request` argument."""

    def register(function: Function) -> Function:
        # Annotations are strings (`from __future__`), which this evaluates.
        request = get_type_hints(function)["request"]
        # A change writes, which is impossible within a snapshot.
        _QUESTIONS[request] = Question(function, request, path, is_of_one_moment and not is_change, is_change)
        return function

    return register


def question_of(request: type[Request[Any]]) -> Question:
    """Return the question to which a request belongs."""
    return _QUESTIONS[request]


def all_questions() -> dict[str, Question]:
    """Return the questions of all modules in this folder, by path."""
    # A module registers its questions when it is imported.
    for module in iter_modules(ladder.questions.__path__):
        import_module(f"{ladder.questions.__name__}.{module.name}")
    return {one.path: one for one in _QUESTIONS.values()}


def check_filled(request: Request[Any]) -> None:
    """Check that no name in a request is empty, as the API does; an empty text would be the beginning of every name.

    Raises:
        NotFound: if a name is empty.
    """
    for field in msgspec.structs.fields(request):
        if field.type == Name and not getattr(request, field.name):
            raise NotFound(f"{field.name} must not be empty")


def document(answer: object) -> Any:
    """Return an answer as a JSON document."""
    return msgspec.to_builtins(answer)


def file_of(source: BinaryIO, name: str) -> File:
    """Return an open file as an answer; it is closed once it has been read completely or abandoned."""

    def pieces() -> Iterator[bytes]:
        with source:
            while data := source.read(PIECE_BYTES):
                yield data

    return File(name, pieces())
