"""Convert a game's actions and observations to its messages and back.

The types of a game mirror its messages name by name, so the same code serves all games: when a game's codec is made, it
makes a plan for each of the game's types. Integers, booleans and texts stay as they are. Member n of an enum becomes
the value n + 1, a tuple becomes a repeated field, `None` becomes an absent field, a named tuple becomes a nested
message, and an action becomes one field of the oneof `kind`.
"""

from __future__ import annotations

import enum
import importlib
import types
import typing
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from referee.game import Action, Game, Observation, kind

_ANY_PREFIX = "type.googleapis.com/"
_MAX_CACHED = 20_000  # the maximum number of serialised actions in the cache


class CodecError(ValueError):
    """The bytes are not an action list or an observation of the game, or the game's messages do not fit its types."""


class Codec:
    """The messages of one game.

    Attributes:
        observation_url: the type URL of an observation in a `google.protobuf.Any`.
        actions_url: the type URL of an action list in a `google.protobuf.Any`.
    """

    def __init__(self, game: Game) -> None:
        """Find the messages of a game.

        Raises:
            CodecError: if the game has no messages, or they do not mirror its types.
        """
        self._game = game
        module_name = f"dogana.games.{game.name}.v1.{game.name}_pb2"
        try:
            messages = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            raise CodecError(f"{game.name} has no messages {module_name}; run `make proto`") from error
        self._observation: type[Message] = messages.Observation
        self._action_list: type[Message] = messages.ActionList
        self._action: type[Message] = messages.Action
        self._types = {kind(action_type): action_type for action_type in game.action_types}
        problems = self._mismatches()
        if problems:
            raise CodecError("; ".join(problems))
        self.observation_url = _ANY_PREFIX + self._observation.DESCRIPTOR.full_name
        self.actions_url = _ANY_PREFIX + self._action_list.DESCRIPTOR.full_name
        fields_of = self._observation.DESCRIPTOR.fields_by_name
        self._repeated = [name for name, field in fields_of.items() if field.is_repeated and field.message_type]
        self._parts: dict[str, dict[Any, bytes]] = {name: {} for name in self._repeated}
        self._write_part = {
            name: _writer(_entry_type(game.observation_type, name), GetMessageClass(fields_of[name].message_type))
            for name in self._repeated
        }
        self._write_observation = _writer(game.observation_type, self._observation, without=self._repeated)
        self._read_observation = _reader(game.observation_type)
        inner = {field.name: field.message_type for field in self._action.DESCRIPTOR.fields}
        self._write_action = {
            action_type: _writer(action_type, getattr(messages, inner[name].name))
            for name, action_type in self._types.items()
        }
        self._read_action = {name: _reader(action_type) for name, action_type in self._types.items()}
        self._entries: dict[Action, bytes] = {}

    def observation_bytes(self, observation: Observation) -> bytes:
        """Serialise an observation.

        In protobuf, serialised messages that are joined together form one message. So each entry of a repeated field is
        serialised once and cached; few entries change from one observation to the next.
        """
        parts = [self._write_observation(observation).SerializeToString()]
        for name in self._repeated:
            entries = self._parts[name]
            for entry in getattr(observation, name):
                parts.append(entries.get(entry) or self._part(name, entry))
        return b"".join(parts)

    def _part(self, name: str, entry: Any) -> bytes:
        part: bytes = self._observation(**{name: [self._write_part[name](entry)]}).SerializeToString()
        if len(self._parts[name]) >= _MAX_CACHED:
            self._parts[name].clear()
        self._parts[name][entry] = part
        return part

    def read_observation(self, data: bytes) -> Observation:
        """Read a serialised observation.

        Raises:
            CodecError: if the bytes are not an observation.
        """
        message = _parsed(self._observation, data)
        return typing.cast("Observation", self._read_observation(message))

    def actions_bytes(self, actions: Sequence[Action]) -> bytes:
        """Serialise an action list by joining the bytes of its entries, each of which comes from a cache."""
        entries = self._entries
        try:
            # Nearly always, all actions are in the cache, and a lookup without a default is the fastest.
            return b"".join([entries[action] for action in actions])
        except KeyError:
            return b"".join([entries.get(action) or self._entry(action) for action in actions])

    def _entry(self, action: Action) -> bytes:
        name = kind(type(action))
        message = self._action(**{name: self._write_action[type(action)](action)})
        entry = self._action_list(actions=[message]).SerializeToString()
        if len(self._entries) < _MAX_CACHED:
            self._entries[action] = entry
        return entry

    def read_actions(self, data: bytes) -> list[Action]:
        """Read a serialised action list; the rules check later that its actions are legal.

        Raises:
            CodecError: if the bytes are not an action list of the game.
        """
        actions = []
        for message in _parsed(self._action_list, data).actions:  # type: ignore[attr-defined]
            name = message.WhichOneof("kind")
            if name is None:
                raise CodecError(f"an Action without a kind; {self._game.name} has: {', '.join(self._types)}")
            action = self._read_action[name](getattr(message, name))
            assert isinstance(action, Action)  # noqa: S101 by construction
            actions.append(action)
        return actions

    def _mismatches(self) -> list[str]:
        """Describe the differences between the messages and the types of the game."""
        oneofs = self._action.DESCRIPTOR.oneofs_by_name
        in_messages = [field.name for field in oneofs["kind"].fields] if "kind" in oneofs else []
        if in_messages != list(self._types):
            return [f"{self._game.name}: Action.kind has {in_messages}, the game has {list(self._types)}"]
        problems = _differences(self._game.observation_type, self._observation.DESCRIPTOR)
        for field in oneofs["kind"].fields:
            problems += _differences(self._types[field.name], field.message_type)
        return problems


# --- the plans --------------------------------------------------------------------------------------


def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _is_message(hint: Any) -> bool:
    """Return True for a type that maps to a nested message, which is a named tuple."""
    return isinstance(hint, type) and hasattr(hint, "_fields")


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return a type without `| None`, and whether `| None` was part of it."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        inner = [part for part in typing.get_args(hint) if part is not types.NoneType]
        return inner[0], True
    return hint, False


def _entry_type(cls: type, name: str) -> type:
    """Return the type of a tuple's entries, which is a named tuple."""
    entry: type = typing.get_args(_hints(cls)[name])[0]
    return entry


def _writer(cls: type, message: Any, without: Sequence[str] = ()) -> Callable[[Any], Message]:
    """Return a function that converts a dataclass or a named tuple to a message, without the fields in `without`."""
    hints = {name: hint for name, hint in _hints(cls).items() if name not in without}
    names = tuple(hints)
    if not names:
        return lambda value: message()
    # `attrgetter` returns a tuple only for several names.
    if len(names) == 1:
        get_one = attrgetter(names[0])
        get: Callable[[Any], tuple[Any, ...]] = lambda value: (get_one(value),)  # noqa: E731
    else:
        get = attrgetter(*names)
    found = [(name, _value_writer(hint, message.DESCRIPTOR.fields_by_name[name])) for name, hint in hints.items()]
    converters = [(name, convert) for name, convert in found if convert is not None]

    def write(value: Any) -> Message:
        arguments = dict(zip(names, get(value), strict=True))
        for name, convert in converters:
            part = arguments[name]
            if part is not None:  # None stands for an absent field
                arguments[name] = convert(part)
        result: Message = message(**arguments)
        return result

    return write


def _value_writer(hint: Any, field: Any) -> Callable[[Any], Any] | None:
    hint, _ = _without_none(hint)
    if typing.get_origin(hint) is tuple:
        inner = _value_writer(typing.get_args(hint)[0], field)
        return None if inner is None else lambda values: [inner(value) for value in values]
    if isinstance(hint, enum.EnumMeta):
        return lambda value: value + 1  # 0 is "unspecified" in every enum of the protocol
    if _is_message(hint):
        return _writer(typing.cast("type", hint), GetMessageClass(field.message_type))
    return None


def _reader(cls: type) -> Callable[[Any], object]:
    """Return a function that converts a message to a dataclass or a named tuple."""
    plan = [(name, *_without_none(hint)) for name, hint in _hints(cls).items()]
    readers = [(name, _value_reader(hint), optional) for name, hint, optional in plan]

    def read(message: Any) -> object:
        values: list[Any] = []
        for name, convert, optional in readers:
            if optional and not message.HasField(name):
                values.append(None)
            else:
                values.append(convert(getattr(message, name)))
        return cls(*values)

    return read


def _value_reader(hint: Any) -> Callable[[Any], Any]:
    if typing.get_origin(hint) is tuple:
        inner = _value_reader(typing.get_args(hint)[0])
        return lambda values: tuple([inner(value) for value in values])
    if isinstance(hint, enum.EnumMeta):
        members: tuple[Any, ...] = tuple(hint.__members__.values())

        def read_enum(value: int) -> Any:
            if not 1 <= value <= len(members):
                raise CodecError(f"{value} is not a value of {hint.__name__}")
            return members[value - 1]

        return read_enum
    if _is_message(hint):
        return _reader(typing.cast("type", hint))
    return lambda value: value


def _parsed(message: type[Message], data: bytes) -> Message:
    try:
        return message.FromString(data)
    except DecodeError as error:
        raise CodecError(f"not a {message.DESCRIPTOR.full_name}: {error}") from error


# --- comparing types and messages ---------------------------------------------------------------------


def _differences(cls: type, message: Any) -> list[str]:
    hints = _hints(cls)
    names = [field.name for field in message.fields]
    if list(hints) != names:
        return [f"{message.full_name} has the fields {names}, {cls.__name__} has {list(hints)}"]
    problems = []
    for field in message.fields:
        hint, optional = _without_none(hints[field.name])
        repeated = typing.get_origin(hint) is tuple
        if repeated:
            hint = typing.get_args(hint)[0]
        place = f"{message.full_name}.{field.name}"
        if repeated != field.is_repeated or (optional and not field.has_presence):
            problems.append(f"{place} differs from {cls.__name__} in being repeated or optional")
        elif isinstance(hint, enum.EnumMeta):
            problems += _enum_differences(hint, field.enum_type, place)
        elif _is_message(hint):
            if field.message_type is None:
                problems.append(f"{place} should be a message like {hint}")
            else:
                problems += _differences(typing.cast("type", hint), field.message_type)
        elif field.cpp_type not in _CPP_TYPES[hint]:
            problems.append(f"{place} is not a {hint.__name__}")
    return problems


_CPP_TYPES: dict[type, set[int]] = {
    bool: {FieldDescriptor.CPPTYPE_BOOL},
    str: {FieldDescriptor.CPPTYPE_STRING},
    int: {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    },
}


def _enum_differences(hint: enum.EnumMeta, described: Any, place: str) -> list[str]:
    if described is None:
        return [f"{place} should be an enum like {hint.__name__}"]
    values = [(value.name, value.number) for value in described.values]
    prefix = values[0][0].removesuffix("UNSPECIFIED")
    expected = [(f"{prefix}{name}", number) for number, name in enumerate(["UNSPECIFIED", *hint.__members__])]
    return [] if values == expected else [f"{place} has the values {values}, {hint.__name__} has {expected}"]


@cache
def codec(game: Game) -> Codec:
    """Return the codec of a game, which is made once and then cached."""
    return Codec(game)
