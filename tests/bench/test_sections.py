"""The parts of a page that commands write."""

from __future__ import annotations

from pathlib import Path

from bench.sections import fill, marks


def test_a_part_is_replaced_and_the_rest_of_the_page_stays(tmp_path: Path) -> None:
    page, (begin, end), (first, last) = tmp_path / "page.md", marks("make luck", "shares"), marks("make luck")
    page.write_text(f"before\n{begin}\nold\n{end}\nprose\n{first}\nold\n{last}\nafter\n")
    for _ in range(2):
        fill(page, "make luck", {"shares": "new", "": "newer"})
        assert page.read_text() == f"before\n{begin}\nnew\n{end}\nprose\n{first}\nnewer\n{last}\nafter\n"
