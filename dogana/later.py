"""Load the pure-Python parts of protobuf only when they are used.

protobuf imports its pure-Python messages as well as those in C (upb), although it then uses only the latter. That takes
a quarter of the processor time that a small bot needs to start. Importing this module before protobuf defers the
pure-Python part; nothing else changes.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from google.protobuf import internal

_PUT_OFF = "google.protobuf.internal.python_message"


class _Later(ModuleType):
    """A module whose code runs at the first lookup of a name that only its code defines."""

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__loader__, self.__file__ = spec, spec.loader, spec.origin
        self.__package__ = spec.parent
        self.is_later = True

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None or not self.__dict__.pop("is_later", False):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        spec.loader.exec_module(self)
        return getattr(self, name)


def _put_off(name: str) -> None:
    spec = PathFinder.find_spec(name, internal.__path__)
    if spec is not None and name not in sys.modules:
        sys.modules[name] = _Later(spec)
        setattr(internal, name.rpartition(".")[2], sys.modules[name])


_put_off(_PUT_OFF)
