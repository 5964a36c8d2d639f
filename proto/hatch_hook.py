"""Make `pip install` build the messages before it packs the project, and the rules before it packs a wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook that runs `generate.py` and `compile_rules.py`; hatchling looks for a class with this name."""

    def dependencies(self) -> list[str]:
        """Return the build requirements for compiled rules, unless the rules are to stay pure Python."""
        return [] if _wants_pure_rules() else ["mypy>=2.4", "setuptools>=80"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the messages, and put the .proto files and the kits into the wheel.

        hatchling calls this before it collects the files. In the wheel, `dogana/proto` is a root for `protoc -I` and buf;
        `dogana new` finds the kits in `dogana/kits`.
        """
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        # An isolated build has neither the checkout nor this folder on its path.
        sys.path.insert(0, str(root / "proto"))
        from generate import generate

        generate(root / "proto", root / "dogana")
        if version != "editable":  # an editable install uses the sources
            build_data["force_include"][str(root / "proto" / "dogana")] = "dogana/proto/dogana"
            build_data["force_include"][str(root / "agents" / "kits")] = "dogana/kits"
            if not _wants_pure_rules():
                self._compile_rules(root, build_data)

    def _compile_rules(self, root: Path, build_data: dict[str, Any]) -> None:
        """Put compiled rules and house bots into the wheel, beside their sources; warn in one line if they cannot be compiled."""
        self._copy = Path(tempfile.mkdtemp(prefix="dogana-rules-"))
        for folder in ("referee", "agents/house_bots"):
            # The copy keeps compiled files away from sources that are edited.
            shutil.copytree(root / folder, self._copy / folder, ignore=shutil.ignore_patterns("*.so", "tests"))
        command = [sys.executable, str(root / "proto" / "compile_rules.py"), str(self._copy)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            said = (ended.stderr.strip() or ended.stdout.strip() or "no reason is known").splitlines()
            why = next((line for line in said if "error" in line), said[-1])
            self.app.display_warning(f"the rules stay pure Python, which is slower (docs/performance.md): {why}")
            return
        for module in self._copy.rglob("*.so"):
            name = str(module.relative_to(self._copy)).removeprefix("agents/")
            build_data["force_include"][str(module)] = name
        # From here on, the wheel is only for this system and this Python, and its name has to say so.
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the compiled copy, which is now in the wheel."""
        if self._copy is not None:
            shutil.rmtree(self._copy)

    _copy: Path | None = None


def _wants_pure_rules() -> bool:
    """Return whether `DOGANA_PURE=1` requests a wheel that runs on every machine."""
    return os.environ.get("DOGANA_PURE", "0") not in ("", "0")
