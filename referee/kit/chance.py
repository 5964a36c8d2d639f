"""The kinds of chance: live, replayed, scripted and fast (`referee/game.py` defines chance)."""

from __future__ import annotations

import hashlib
import random
from collections import deque
from collections.abc import Callable, Sequence

from mypy_extensions import mypyc_attr

Draw = int | list[int]
"""The result of a draw: an integer, or a permutation."""


class ChanceError(Exception):
    """A draw does not agree with the record or the script."""


# --- live -----------------------------------------------------------------------------------------


class LiveStream:
    """The chance of one stream in a match, determined by the seed and the stream's name.

    The stream is the sequence of 64-bit words (big-endian, four to a block) of the blocks SHA-256(key, i) for i = 0, 1,
    2, ... as 8 bytes big-endian, where key = SHA-256("dogana chance 1:<seed>:<name>"). A draw below n takes words until
    one is less than the greatest multiple of n that fits, and is that word modulo n. So anybody can recompute a match's
    chance in any language, and nobody can predict it from earlier draws.
    """

    def __init__(self, seed: int, name: str, draws: list[tuple[str, Draw]]) -> None:
        self._name = name
        self._draws = draws
        self._key = hashlib.sha256(f"dogana chance 1:{seed}:{name}".encode()).digest()
        self._block = 0
        self._words: list[int] = []

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1."""
        draw = self._below(n)
        self._draws.append((self._name, draw))
        return draw

    def pick(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight."""
        place = self._below(sum(weights))
        index = 0
        while place >= weights[index]:
            place -= weights[index]
            index += 1
        self._draws.append((self._name, index))
        return index

    def permutation(self, n: int) -> list[int]:
        """Draw a permutation of 0 to n - 1, using the Fisher-Yates shuffle from the last index down."""
        order = list(range(n))
        for last in range(n - 1, 0, -1):
            other = self._below(last + 1)
            order[last], order[other] = order[other], order[last]
        self._draws.append((self._name, order))
        return order

    def _below(self, n: int) -> int:
        if n < 1:
            raise ValueError("nothing to draw from")
        while True:
            if not self._words:
                block = hashlib.sha256(self._key + self._block.to_bytes(8, "big")).digest()
                self._block += 1
                # The words are in reverse order, because `pop` takes the last one.
                self._words = [int.from_bytes(block[at : at + 8], "big") for at in (24, 16, 8, 0)]
            word = self._words.pop()
            # Larger words would make small results more probable.
            if word < (1 << 64) - (1 << 64) % n:
                return word % n


class LiveChance:
    """The chance of a live match.

    Attributes:
        draws: every draw so far, in order, as (stream, draw); the writer of the record empties the list.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, LiveStream] = {}
        self.draws: list[tuple[str, Draw]] = []

    def stream(self, name: str) -> LiveStream:
        """Return a stream by name."""
        if name not in self._streams:
            self._streams[name] = LiveStream(self._seed, name, self.draws)
        return self._streams[name]


# --- given in advance: replaying and scripted --------------------------------------------------------


@mypyc_attr(allow_interpreted_subclasses=True)
class ScriptedChance:
    """Chance scripted by a test, as in `ScriptedChance(bag=[8, 0])`."""

    def __init__(self, **draws: Sequence[Draw]) -> None:
        self._draws = {name: list(given) for name, given in draws.items()}

    def stream(self, name: str) -> GivenStream:
        """Return a stream by name; raise `ChanceError` if it is not in the script."""
        if name not in self._draws:
            raise ChanceError(f"stream {name} is not in the script")
        return GivenStream(name, lambda: self._take(name), None)

    def _take(self, name: str) -> Draw:
        if not self._draws[name]:
            raise ChanceError(f"stream {name} has no draw left")
        return self._draws[name].pop(0)


class ReplayChance:
    """Chance replayed from a record; the draws must come in the recorded order.

    Attributes:
        draws: the draws that are still to come, as (stream, draw); the reader of the record adds them.
    """

    def __init__(self, live: LiveChance | None) -> None:
        """Begin with no draws.

        Args:
            live: the live chance of the seed, with which every recorded draw must agree; None if the seed is unknown.
        """
        self.draws: deque[tuple[str, Draw]] = deque()
        self._live = live

    def stream(self, name: str) -> GivenStream:
        """Return a stream by name."""
        return GivenStream(name, lambda: self._take(name), self._live.stream(name) if self._live else None)

    def _take(self, name: str) -> Draw:
        if not self.draws:
            raise ChanceError(f"the rules draw from stream {name}, but nothing more is recorded")
        recorded, draw = self.draws.popleft()
        if recorded != name:
            raise ChanceError(f"the rules draw from stream {name}, but stream {recorded} is recorded")
        return draw


class GivenStream:
    """A stream of draws fixed in advance. A draw raises `ChanceError` if the fixed value is impossible there."""

    def __init__(self, name: str, take: Callable[[], Draw], live: LiveStream | None) -> None:
        self._name = name
        self._take = take
        self._live = live

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1."""
        index = self._index(n)
        # The live stream must draw each time, too, or it would fall out of step.
        self._compare(index, None if self._live is None else self._live.below(n))
        return index

    def pick(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight."""
        index = self._index(len(weights))
        if weights[index] < 1:
            raise ChanceError(f"stream {self._name} cannot give {index} here")
        self._compare(index, None if self._live is None else self._live.pick(weights))
        return index

    def permutation(self, n: int) -> list[int]:
        """Draw a permutation of 0 to n - 1."""
        order = self._take()
        if not isinstance(order, list) or len(order) != n or sorted(order) != list(range(n)):
            raise ChanceError(f"stream {self._name} gives {_brief(order)} where a permutation of {n} is drawn")
        self._compare(order, None if self._live is None else self._live.permutation(n))
        return order

    def _index(self, n: int) -> int:
        index = self._take()
        if type(index) is not int or not 0 <= index < n:
            raise ChanceError(f"stream {self._name} gives {_brief(index)} where a number below {n} is drawn")
        return index

    def _compare(self, draw: Draw, live: Draw | None) -> None:
        if self._live is not None and draw != live:
            raise ChanceError(f"stream {self._name} gives {_brief(draw)}, but the seed gives {live}")


def _brief(draw: Draw) -> str:
    return f"a list of {len(draw)}" if isinstance(draw, list) and len(draw) > 100 else repr(draw)


# --- fast -------------------------------------------------------------------------------------------


class FastChance:
    """Fast chance for playouts. One generator serves all streams, and nothing is recorded."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 playouts need speed, not secrecy
        self._draw = self._random.random

    def stream(self, name: str) -> FastChance:
        """Return a stream by name."""
        return self

    def below(self, n: int) -> int:
        """Draw an integer from 0 to n - 1."""
        return int(self._draw() * n)  # from 53 random bits: the bias is at most n / 2^53

    def pick(self, weights: Sequence[int]) -> int:
        """Draw an index with probability proportional to its weight."""
        place = int(self._draw() * sum(weights))
        index = 0
        while place >= weights[index]:
            place -= weights[index]
            index += 1
        return index

    def permutation(self, n: int) -> list[int]:
        """Draw a permutation of 0 to n - 1."""
        order, draw = list(range(n)), self._random.getrandbits
        for last in range(n - 1, 0, -1):  # the draws of `random.shuffle`, without its calls
            bits = (last + 1).bit_length()
            other = draw(bits)
            while other > last:
                other = draw(bits)
            order[last], order[other] = order[other], order[last]
        return order


def commitment(match_id: str, seed: int) -> str:
    """Return the commitment to a seed that the agents receive before the match.

    It is the SHA-256, in hexadecimal, of the match id, a colon, and the seed in decimal digits.
    """
    return hashlib.sha256(f"{match_id}:{seed}".encode()).hexdigest()


def rotation_seed(seed: int, rotation: int) -> int:
    """Return the seed of one match in a block in which each rotation has its own seed.

    It is the first 62 bits of the SHA-256 of the block's seed in decimal digits, a slash, and the rotation, counted
    from 0.
    """
    return int.from_bytes(hashlib.sha256(f"{seed}/{rotation}".encode()).digest()[:8]) >> 2
