"""Compile the rules with mypyc: `python proto/compile_rules.py FOLDER` puts extension modules beside them in a copy of the sources.

`hatch_hook.py` does so for a wheel, `make compiled` for the tests. A checkout is refused: beside sources that are edited, what was
compiled would be what runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CONTRACT = ("referee/game.py", "referee/named.py", "referee/kit/chance.py", "referee/playout.py")
"""What all rules are compiled with."""
PURE = (
    "__init__",
    "actions",
    "breakdown",
    "drawing",
    "invariants",
    "names",
    "observation",
    "position",
    "problems",
    "sample",
    "spots",
)
"""Modules of a game, by how they begin, that stay as they are: play does not run through them, or others make their values."""

Group = tuple[list[str], str]
"""Files that become one library, and its name."""


def groups(root: Path) -> list[Group]:
    """Return what is compiled, by paths below `root`: the contract, and the rules of each game."""
    found: list[Group] = [(list(CONTRACT), "referee.contract_compiled")]
    for game in sorted(path.parent for path in (root / "referee" / "games").glob("*/__init__.py")):
        files = [path for path in sorted(game.glob("*.py")) if not path.stem.startswith(PURE)]
        if files:
            found.append(([str(path.relative_to(root)) for path in files], f"referee.games.{game.name}.compiled"))
    return found


def compile_rules(root: Path) -> None:
    """Compile the rules below a folder, which becomes the current one. What is wrong goes to standard error, and ends the process."""
    import setuptools  # mypyc looks whether this was imported
    from mypyc.build import mypycify

    os.chdir(root)
    found = groups(root)
    extensions = mypycify(
        ["--strict", "--explicit-package-bases", "--config-file=", *(path for paths, _ in found for path in paths)],
        separate=[(paths, name) for paths, name in found],
        opt_level="2",
        debug_level="0",
        target_dir="build/c",
    )
    distribution = setuptools.Distribution({"name": "dogana-arena", "ext_modules": extensions})
    command = distribution.get_command_obj("build_ext")
    command.inplace = True
    command.parallel = os.cpu_count()
    distribution.run_command("build_ext")


if __name__ == "__main__":
    [folder] = sys.argv[1:]
    if (Path(folder) / ".git").exists():
        sys.exit(f"{folder} is a checkout; rules are compiled in a copy: make compiled")
    compile_rules(Path(folder).resolve())
