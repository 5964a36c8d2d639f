"""The configuration of `make docs`: a site of all Markdown of the project, and a reference from the docstrings."""

from sphinx.application import Sphinx

from referee.version import installed_version

project = "Dogana"
author = "The Dogana developers"
copyright = author  # noqa: A001 the name that Sphinx expects
version = release = installed_version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# The whole repository is the source, so that links between its pages work here as they do on disk.
include_patterns = ["docs/**", "referee/games/*/RULES.md", "README.md"]
include_patterns += ["CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]
root_doc = "docs/index"

myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["toc.not_included"]  # each decision is reached from the list of decisions
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
default_role = "code"

html_theme = "furo"
html_title = "Dogana"
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Leave out the badges: these pictures come from other hosts, and the site must need no network."""
    app.connect("source-read", _without_badges)


def _without_badges(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = "".join(line for line in source[0].splitlines(keepends=True) if not line.startswith("[!["))
