"""Lets `pip install` (wheel, sdist and editable alike) build the messages before it packs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `proto/generate.py`; the name is the one that hatchling looks for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files of a wheel (also of an editable one)."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "proto"))
        from generate import generate

        generate(root / "proto", root / "dogana")
