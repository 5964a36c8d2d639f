"""The scripts of `proto/`, which are no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROTO = Path(__file__).resolve().parents[2] / "proto"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PROTO / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def check() -> ModuleType:
    return loaded("check")


@pytest.fixture(scope="session")
def languages() -> ModuleType:
    return loaded("languages")
