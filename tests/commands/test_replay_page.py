"""`dogana replay --html`: the page of a match."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from referee.live.matches.in_process import play_in_process
from tests.commands.conftest import Dogana, start
from tests.patience import patient


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl"
    play_in_process("yunnan", ["random", "random"], seed=5, options={"turn_limit": 2}, record=path)
    return path


def test_a_page_is_written_and_its_size_printed(dogana: Dogana, record: Path) -> None:
    ended = dogana("replay", record, "--html", "match.html")
    page = (record.parent / "match.html").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert ended.stdout == ""
    found = re.search(r"match\.html: (\d+) steps, what spectators and 2 seats saw, (\d+) KB", ended.stderr)
    assert found
    assert int(found[2]) == round(len(page) / 1000)
    assert int(found[1]) == record.read_text().count('"type":"action"')
    look = re.search(r"look at match\.html#s=(\d+)(?:&as=[01])?\n$", ended.stderr)
    assert look
    assert int(look[1]) <= int(found[1])


def test_the_views_of_seats_can_be_left_out(dogana: Dogana, record: Path) -> None:
    message = dogana("replay", record, "--html", "match.html", "--views", "public").stderr
    assert "what spectators saw," in message
    assert "&as=" not in message


def test_a_folder_that_is_not_there_is_reported_before_anything_is_drawn(here: Dogana, record: Path) -> None:
    for option in ("--html", "--svg"):
        (record.parent / "file").write_text("x")
        assert "file" in here("replay", record, option, "file/match.html", status=1).stderr
    refused = here("replay", record, "--html", "nosuch/match.html", status=1).stderr
    assert refused == "dogana: nosuch/match.html: there is no folder nosuch\n"


def test_a_record_that_breaks_off_gives_a_page_up_to_there_and_status_1(dogana: Dogana, record: Path) -> None:
    (record.parent / "cut.jsonl").write_text("".join(record.read_text().splitlines(keepends=True)[:12]))
    said = dogana("replay", "cut.jsonl", "--html", "cut.html", status=1).stderr
    assert "cut.jsonl: line 13: is missing: the record is cut off" in said
    assert "the page ends there and says so" in said
    assert "This record does not hold: line 13" in (record.parent / "cut.html").read_text()


def test_what_is_no_record_gives_no_page(here: Dogana, record: Path) -> None:
    lines = record.read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace('"seat":', '"Seat":')
    (record.parent / "changed.jsonl").write_text("".join(lines))
    assert "line 5: was changed" in here("replay", "changed.jsonl", "--html", "no.html", status=1).stderr
    assert not (record.parent / "no.html").exists()


def test_a_page_has_everything_so_other_options_are_refused(here: Dogana, record: Path) -> None:
    for more in (["--as", 0], ["--svg", "pictures"], ["--at", 3], ["--json"]):
        said = here("replay", record, "--html", "match.html", *more, status=1).stderr
        assert "--html goes with --views only" in said
    assert "--views goes with --html" in here("replay", record, "--views", "all", status=1).stderr


def test_a_full_disk_leaves_the_older_page(dogana: Dogana, record: Path) -> None:
    page = record.parent / "match.html"
    page.write_text("<!DOCTYPE html> an older one")
    ended = dogana("replay", record, "--html", page, "--force", status=1, max_bytes=20_000)
    assert ended.stderr.splitlines()[-1] == f"dogana: {page}: File too large"
    assert page.read_text() == "<!DOCTYPE html> an older one"
    assert list(record.parent.glob("*.part")) == []


@pytest.mark.long
def test_ctrl_c_ends_every_process_and_leaves_no_page(dogana: Dogana, tmp_path: Path) -> None:
    dogana("play", "valparaiso", *["random"] * 5, "--seed", 3, "--record", "match.jsonl")
    process = start(tmp_path, "replay", "match.jsonl", "--html", "match.html", start_new_session=True)
    assert process.stderr is not None
    assert "pictures are drawn" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    rest = process.communicate(timeout=patient(60))[
        1
    ]  # to the end, which comes when no process is left that could write
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["match.jsonl"]
