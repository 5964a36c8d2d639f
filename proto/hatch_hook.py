"""Let `pip install` (of a wheel, an sdist or an editable project) build the messages before it packs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Run `proto/generate.py`; the name of this class is the one that hatchling looks for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the messages, and put the .proto files and the kits into the wheel.

        hatchling calls this before it collects the files. In the wheel, `dogana/proto` is a root for `protoc -I` and buf;
        `dogana new` finds the kits in `dogana/kits`.
        """
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "proto"))
        from generate import generate

        generate(root / "proto", root / "dogana")
        if version != "editable":  # whoever has the sources has these files
            build_data["force_include"][str(root / "proto" / "dogana")] = "dogana/proto/dogana"
            build_data["force_include"][str(root / "agents" / "kits")] = "dogana/kits"
