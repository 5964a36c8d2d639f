"""The command `dogana`, and `dogana-arena`: begins only if Python finds Dogana's own packages.

Other distributions have packages and commands with the same names (on PyPI, `dogana` and `ladder`), and the one installed last
overwrites the files of the other. So the command begins in this module, whose name nobody else uses, and checks the packages
before it imports any of them. docs/decisions/0038-one-name-of-our-own.md gives the reasons.
"""

import sys
from importlib.machinery import PathFinder

PACKAGES = ("dogana", "referee", "house_bots", "ladder")
MARK = b"# One of the packages of dogana-arena.\n"
"""The first line of the `__init__.py` of each of these packages."""


def main() -> None:
    """Run the command line; exit with a line about the fault if one of our packages is missing or has been replaced."""
    for package in PACKAGES:
        spec = PathFinder.find_spec(package)
        found = spec.origin if spec else None
        if found is None or not _is_ours(found):
            sys.exit(f"dogana: {_fault(package, found)} (pipx install dogana-arena, or python3 -m venv)")
    from ladder.__main__ import main

    main()


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 importing pathlib takes longer than all of this
            return file.read(len(MARK)) == MARK
    except OSError:
        return False


def _fault(package: str, found: str | None) -> str:
    """Return the reason why a package is not ours, and the remedy. After a failure, there is time to search all distributions."""
    alone = "install dogana-arena in an environment of its own"
    if found is None:
        return f"files of Dogana's package {package} are missing, as after another distribution was removed; {alone}"
    from importlib.metadata import distributions
    from pathlib import Path

    others = {
        other.metadata["Name"]
        for other in distributions()
        for file in other.files or ()
        if file.parts == (package, "__init__.py") and Path(str(other.locate_file(file))) == Path(found)
    }
    owners = " and ".join(sorted(others - {"dogana-arena"}))
    if owners:
        return f"the distribution {owners} has replaced Dogana's package {package}; {alone}"
    return f"{found} hides Dogana's package {package}; move it, or {alone}"


if __name__ == "__main__":
    main()
