"""docs/search.md works: its program runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "search.md"


def test_the_program_of_the_page_finds_a_row() -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    exec(program, names)  # noqa: S102 our own page
    assert names["search"].rollouts == 20
    assert names["search"].run(lambda rollouts: 1.0) in names["search"].rows
