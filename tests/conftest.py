"""What all tests share."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import os
import signal
import sys
from pathlib import Path

import pytest

from referee.sandbox.system import IS_LINUX, NAME

ROOT = Path(__file__).resolve().parent.parent
TOY = Path(__file__).resolve().parent / "toy"

# As `ladder.__main__` does for the command: gRPC reads these when it is first imported.
os.environ.setdefault("GRPC_EXPERIMENTS", "-event_engine_client,-event_engine_listener")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def pytest_report_header() -> list[str]:
    """Say on other systems what to expect."""
    needed = "the tests look at processes and the sandbox as Linux shows them, so many fail on"
    return [] if IS_LINUX else [f"{needed} {NAME}: run them on Linux (docs/installing.md)"]


def pytest_configure(config: pytest.Config) -> None:
    """Let tests send signals, whoever started them; build the messages of the toy game, and let them be found."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:  # as in the background of a script, and under nohup
            signal.signal(number, usual)
    messages = TOY / "messages" / "dogana"
    if not hasattr(config, "workerinput"):
        spec = importlib.util.spec_from_file_location("generate", ROOT / "proto" / "generate.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.generate(TOY / "proto", messages)
    sys.path.insert(0, str(ROOT))
    importlib.import_module("tests.patience")  # before there are other processes, which it measures for
    import dogana.games

    dogana.games.__path__.append(str(messages / "games"))


SCENE_SECONDS = 90
"""What no test in an event loop takes on a quiet machine."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own, for a limited time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    from tests.patience import patient

    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), patient(SCENE_SECONDS)))
    return True
