"""Compile the rules and the house bots with mypyc, into a copy of the sources: `python proto/compile_rules.py FOLDER`.

If the folder is followed by names of games, only these games and their house bots are compiled again.

`hatch_hook.py` runs this for a wheel, and `make compiled` for the tests. A checkout is refused: edits to its sources
would have no effect, because Python would import the compiled modules beside them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

CONTRACT = ("referee/game.py", "referee/options.py", "referee/named.py", "referee/kit/chance.py", "referee/playout.py")
"""Modules that are compiled with all rules."""
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
    "spots",
)
"""The name prefixes of modules that stay pure Python.

Matches do not run their code, or other modules make their values.
"""

Group = tuple[list[str], str]
"""The files of one library, and the library's name."""


BOTS = ("agents/house_bots/greedy", "agents/house_bots/search")
"""The folders of house bots. A module whose name begins with the name of a game is compiled with that game."""


def groups(root: Path) -> list[Group]:
    """Return the groups to compile, as paths below `root`: the contract, and the rules and house bots of each game."""
    found: list[Group] = [(list(CONTRACT), "referee.contract_compiled")]
    for game in sorted(path.parent for path in (root / "referee" / "games").glob("*/__init__.py")):
        rules = [path for path in sorted(game.glob("*.py")) if not path.stem.startswith(PURE)]
        bots = [path for folder in BOTS for path in sorted((root / folder).glob(f"{game.name}*.py"))]
        for files, name in ((rules, f"referee.games.{game.name}.compiled"), (bots, f"house_bots.{game.name}_compiled")):
            if files:
                found.append(([str(path.relative_to(root)) for path in files], name))
    return found


def compile_rules(root: Path, games: Sequence[str] = ()) -> None:
    """Compile the rules and house bots below a folder, which becomes the current folder.

    An error ends the process with a message.

    Args:
        root: the folder.
        games: the games to compile again; if empty, everything is compiled, including the contract.
    """
    import setuptools  # mypyc checks whether this was imported
    from mypyc.build import mypycify

    os.chdir(root)
    os.environ["MYPYPATH"] = "agents"
    found = groups(root)
    extensions = mypycify(
        ["--strict", "--explicit-package-bases", "--config-file=", *(path for paths, _ in found for path in paths)],
        separate=[(paths, name) for paths, name in found],
        opt_level="2",
        debug_level="0",
        target_dir="build/c",
    )
    if games:
        extensions = [one for one in extensions if any(game in one.name for game in games)]
    packages = {"house_bots": "agents/house_bots"}
    distribution = setuptools.Distribution({"name": "dogana-arena", "ext_modules": extensions, "package_dir": packages})
    command = distribution.get_command_obj("build_ext")
    command.inplace = True
    command.parallel = os.cpu_count()
    distribution.run_command("build_ext")


if __name__ == "__main__":
    folder, *chosen = sys.argv[1:]
    if (Path(folder) / ".git").exists():
        sys.exit(f"{folder} is a checkout; rules are compiled in a copy: make compiled")
    compile_rules(Path(folder).resolve(), chosen)
