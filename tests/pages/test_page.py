"""The page of a match: every picture is the referee's, nothing secret is told, and strangers' text stays text."""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
from base64 import b64encode
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from referee.game import Game, Seat
from referee.kit.chance import commitment
from referee.match.judging import Unreadable
from referee.match.result import Fault, Outcome
from referee.pages.film import STEPS_A_REEL, FilmError, film
from referee.pages.match import ReplayPage, make_page
from referee.records.changes import changes
from referee.records.moments import lead_lost
from referee.records.record import RecordError, header
from referee.records.verify import Replay
from referee.records.viewpoint import Viewpoint
from referee.registry import find, games
from referee.terminal import visible
from tests.cases import mostly_long
from tests.pages.conftest import Recorded, find_sparing
from tests.pages.payloads import pictures_of, read
from tests.referee.test_records import chained, find_any
from tests.tables import Table, plan_of, sealed

DECODE = (resources.files("referee.pages") / "decode.js").read_text()
MARKUP = "</script><svg onload=alert(1)>]]>&amp;\"'\u2028\u202e${x}$payload" + "w" * 10_000


def silent(drawn: int, pictures: int) -> None:
    """Progress that nobody wants to hear of."""


def payload(page: ReplayPage) -> dict[str, Any]:
    found = re.search(r'<script id="payload"[^>]*>([^<]*)</script>', page.html)
    assert found
    return read(found[1])


def page_of(record: Path, **arguments: Any) -> ReplayPage:
    return make_page(record, find_sparing, silent, **arguments)


def drawn(record: Path, viewer: Seat | None) -> list[str]:
    """The referee's own pictures of a record, step by step."""
    replay = Replay(record, find_sparing)
    viewpoint = Viewpoint(replay, viewer)
    pictures = [viewpoint.draw()]
    with contextlib.suppress(RecordError):  # it may break off
        for step in replay:
            viewpoint.follow(step)
            pictures.append(viewpoint.draw())
    return pictures


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_bytes(chained(lines))
    return path


def lines_of(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_bytes().splitlines()]


# --- pictures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fewest", mostly_long([True, False]), ids=["fewest seats", "most seats"])
@pytest.mark.parametrize("game", mostly_long(games()))
def test_every_picture_of_every_view_is_the_referees_byte_for_byte(
    game: str, fewest: bool, recorded: Recorded, tmp_path: Path
) -> None:
    counts = find(game).seat_counts
    seats = counts.start if fewest else counts.stop - 1
    record = recorded(game, seats)
    if not fewest:  # drawing takes long: the beginning is enough
        record = written(tmp_path / "match.jsonl", lines_of(record)[:75])
    page = page_of(record, seats_too=True)
    data = payload(page)
    assert data["clocks"]
    expected = [drawn(record, viewer) for viewer in (None, *range(seats))]
    assert page.steps == len(expected[0]) - 1 > 40
    for viewer, pictures in zip((None, *range(seats)), expected, strict=True):
        assert list(pictures_of(data, viewer)) == pictures
    assert plain_board(page.html) == Tags(expected[0][-1]).found
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, so decode.js is not tested: apt-get install nodejs")
    (tmp_path / "match.html").write_text(page.html)
    program = DECODE + DECODE_ALL
    ended = subprocess.run([node, "-e", program, tmp_path / "match.html"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["found"] == [
        [hashlib.sha256(picture.encode()).hexdigest() for picture in pictures] for pictures in expected
    ]
    assert report["words"] == [data["texts"], data["log"], data["logs"], data["clocks"]]


# Forwards, then every picture again in leaps to and fro, which must be what it was.
DECODE_ALL = r"""
const [, text] = /<script id="payload"[^>]*>([^<]*)</.exec(require("fs").readFileSync(process.argv[1], "utf8"));
unpack(text).then((data) => {
  const pictureOf = makePictures(data);
  const hash = (text) => require("crypto").createHash("sha256").update(text).digest("hex");
  const found = [null, ...data.seats.keys()].map((seat) => data.public.map((_, step) => hash(pictureOf(step, seat))));
  const count = data.public.length;
  for (let n = 0, step = 0; n < count; n++, step = (step + 89) % count)
    for (const view of found.keys())
      if (hash(pictureOf(step, view ? view - 1 : null)) !== found[view][step]) throw new Error(`step ${step} differs`);
  console.log(JSON.stringify({ found, words: [data.texts, data.log, data.logs, data.clocks] }));
});
"""


@pytest.mark.long
def test_several_processes_draw_the_same_as_one(recorded: Recorded) -> None:
    record = recorded("cargo_noir", 5)
    replay = Replay(record, find)
    steps = sum(1 for _ in replay)
    progress: list[tuple[int, int]] = []

    def tell(drawn: int, pictures: int) -> None:
        progress.append((drawn, pictures))

    alone, together = (film(record, find, replay.last_hash, steps, 1, tell, workers=workers) for workers in (1, 2))
    assert alone == together
    whole = (2 * (steps + 1), 2 * (steps + 1))
    assert steps > STEPS_A_REEL
    assert (len(progress), progress[1], progress[3]) == (4, whole, whole)
    assert not multiprocessing.active_children()


def find_and_die(name: str) -> Game:
    """Finds a game, but not in a process that another has started."""
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return find(name)


def test_a_process_that_is_killed_is_reported(recorded: Recorded) -> None:
    record = recorded("cargo_noir", 5)
    with pytest.raises(FilmError, match="was killed"):
        film(record, find_and_die, Replay(record, find).last_hash, 100, 1, silent, workers=2)
    assert not multiprocessing.active_children()


def test_a_record_that_is_replaced_while_it_is_drawn_is_not_mixed_with_the_other(recorded: Recorded) -> None:
    record = recorded("yunnan", 2)
    for workers in (1, 2):
        with pytest.raises(RecordError, match="was replaced by another one while it was drawn"):
            film(record, find, "0" * 64, 64, 0, silent, workers=workers)


def test_equal_records_give_equal_pages(recorded: Recorded) -> None:
    record = recorded("yunnan", 2)
    assert page_of(record).html == page_of(record).html


# --- what is told ---------------------------------------------------------------------------------------


def test_the_log_of_each_view_tells_what_a_replay_tells(recorded: Recorded) -> None:
    record = recorded("venezia", 2)
    data = payload(page_of(record))
    for viewer in (None, 0, 1):
        replay = Replay(record, find)
        viewpoint = Viewpoint(replay, viewer)
        for step in replay:
            before, known = viewpoint.seen, viewpoint.follow(step)
            own: list[int] = data["logs"][viewer][step.n - 1] if viewer is not None else []
            action, said, *changed = own or data["log"][step.n - 1]
            assert (action >= 0) == known
            assert (said >= 0) == (viewpoint.scene.step == step.n)
            assert said < 0 or data["texts"][said] == visible("; ".join(viewpoint.tell()))
            assert [data["texts"][number] for number in changed] == changes(before, viewpoint.seen)


def secret_match(tmp_path: Path) -> Path:
    """A toy match in which each seat commits to a number in secret, and lays it open."""
    table = sealed()
    table.play_out()
    return written(tmp_path / "secret.jsonl", [header(table.match.plan), *table.lines])


def test_what_seats_knew_is_in_their_own_views_only(tmp_path: Path) -> None:
    record = secret_match(tmp_path)
    whole = payload(make_page(record, find_any, silent))
    public = payload(make_page(record, find_any, silent, seats_too=False))
    assert whole["seats"]
    assert public["seats"] == public["logs"] == []
    hidden = [number for number, entry in enumerate(public["log"]) if entry[0] == -1]
    assert hidden
    for number in hidden:
        seat = public["seat"][number]
        assert whole["logs"][seat][number][0] >= 0
        assert (whole["logs"][1 - seat][number] or whole["log"][number])[0] == -1
    secrets = set(whole["texts"]) - set(public["texts"])
    assert secrets
    assert set(public["texts"]) <= set(whole["texts"])


def test_a_record_that_does_not_reveal_its_seed_shows_no_seats_views_unasked(tmp_path: Path) -> None:
    record = secret_match(tmp_path)
    lines = lines_of(record)[:-1]
    lines[0]["reveals_seed"] = False
    unsealed = written(tmp_path / "unsealed.jsonl", lines)
    page = make_page(unsealed, find_any, silent)
    assert (page.seats, page.broken, page.is_sealed) == (0, "", False)
    assert "The seed of this match is not revealed yet" in page.html
    assert make_page(unsealed, find_any, silent, seats_too=True).seats == 2
    assert "not revealed yet" not in make_page(record, find_any, silent).html


def test_a_page_that_would_be_too_large_leaves_out_what_seats_knew_and_says_so(recorded: Recorded) -> None:
    record = recorded("yunnan", 2)
    whole = page_of(record)
    small = page_of(record, max_bytes=len(whole.html.encode()) - 1)
    assert (whole.seats, small.seats) == (2, 0)
    assert "the page would be too large" in small.html
    assert "the page would be too large" not in whole.html
    assert list(pictures_of(payload(small), None)) == list(pictures_of(payload(whole), None))


@pytest.mark.long
def test_the_pages_of_short_matches_are_small(recorded: Recorded) -> None:
    """At most 40 KB besides the last picture and the payload, and at most 150 bytes for each of the pictures."""
    for game in games():
        seats = find(game).seat_counts.start
        page = page_of(recorded(game, seats))
        [packed] = re.findall(r'id="payload"[^>]*>([^<]*)<', page.html)
        picture = list(pictures_of(payload(page), None))[-1]
        assert len(page.html.encode()) - len(packed) - len(picture.encode()) < 40_000
        assert len(packed) < 20_000 + 150 * (page.steps + 1) * (1 + seats), game


# --- records that break off, and matches with faults -----------------------------------------------------


def test_a_record_that_breaks_off_is_shown_up_to_there_in_red(recorded: Recorded, tmp_path: Path) -> None:
    lines = lines_of(recorded("yunnan", 2))
    page = page_of(written(tmp_path / "cut.jsonl", lines[:22]))
    assert page.broken == "line 23: is missing: the record is cut off (a line of type action comes here)"
    assert page.steps == 20
    assert page.seats == 0
    assert '<p class="notice broken" role="alert">This record does not hold: line 23: is missing' in page.html
    assert "<title>Broken record: Yunnan: " in page.html
    assert "Standing where the record breaks off" in page.html
    assert payload(page)["final"] is None


def test_a_forged_result_is_reported(recorded: Recorded, tmp_path: Path) -> None:
    lines = lines_of(recorded("yunnan", 2))
    lines[-2]["seats"][0]["score"] += 1
    page = page_of(written(tmp_path / "forged.jsonl", lines))
    assert page.broken.endswith("the result is another one: it differs in seats")
    assert payload(page)["final"] is None


def test_no_page_is_made_of_what_is_no_record(tmp_path: Path) -> None:
    (tmp_path / "no.jsonl").write_text("no record\n")
    with pytest.raises(RecordError):
        page_of(tmp_path / "no.jsonl")


def hostile(path: Path) -> Path:
    """A match with markup in every text that strangers write: names, the match's id, details and rules."""
    plan = plan_of(options={"last_turn": 3, "first_player": 0}, seats=3)
    table = Table(plan)
    table.answer(0, Unreadable("no action"))
    table.answer(0, 0)
    table.fault(1, Fault(Outcome.CRASH, MARKUP))
    table.play_out()
    lines = [header(plan), *table.lines]
    lines[0]["bots"] = [MARKUP, "<img src=x onerror=alert(1)>", "\ud800\x1b[2J"]
    lines[0].update(match=MARKUP, seed_commitment=commitment(MARKUP, lines[-1]["seed"]))
    for line in lines:
        if line["type"] == "strike":
            line.update(detail=MARKUP, rule=MARKUP)
    return written(path, lines)


def test_the_first_look_is_at_the_seat_that_was_put_out_or_lost_the_lead(tmp_path: Path, recorded: Recorded) -> None:
    page = page_of(hostile(tmp_path / "match.jsonl"))
    [out] = [trouble for trouble in payload(page)["troubles"] if trouble[2]]
    assert page.moment == f"#s={out[0]}&as=1"
    record = recorded("yunnan", 2)
    page = page_of(record)
    data = payload(page)
    places = [*data["places"], [page.steps, [place for place, _ in data["final"]]]]
    step, seat = lead_lost(places) or pytest.fail("nobody lost the lead in this match")
    assert page.moment == f"#s={step}&as={seat}"
    assert page_of(record, seats_too=False).moment == f"#s={step}"


def test_strikes_and_faults_are_described_with_step_reason_and_rule(tmp_path: Path) -> None:
    data = payload(page_of(hostile(tmp_path / "match.jsonl")))
    strike, out = data["troubles"]
    assert strike[:4] == [0, 0, False, "illegal"]
    assert out[1:4] == [1, True, "crash"]
    assert strike[5].startswith("</script>")
    assert data["by"][out[0] :].count("d") > 0


class Tags(HTMLParser):
    """Collects the elements of a page, and their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def plain_board(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of the picture that stands in a page without scripts, with what its classes say as attributes again."""
    classes = dict(re.findall(r"^\.(v\d+)\{(.*)\}", html, re.MULTILINE))
    [board] = re.findall(r'<div id="board">(.*?)</div>', html, re.DOTALL)
    found = Tags(board).found
    for _, attributes in found:
        for declared in filter(None, classes.get(attributes.pop("class", None) or "", "").split(";")):
            name, value = declared.split(":")
            attributes[name] = value.removesuffix("px")
    return found


def test_text_of_strangers_makes_no_element_attribute_or_script(tmp_path: Path, recorded: Recorded) -> None:
    page = page_of(hostile(tmp_path / "match.jsonl"))
    assert not page.broken
    found = Tags(page.html).found
    names = [tag for tag, _ in found]
    assert names.count("script") == 2
    assert not {"img", "iframe", "object", "a", "link", "form"} & set(names)
    attributes = {name for _, attrs in found for name in attrs}
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "xlink:href")]
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in found)
    kinds = {name: names.count(name) for name in names}
    plain = Tags(page_of(recorded("cargo_noir", 3)).html).found
    assert set(kinds) <= {tag for tag, _ in plain} | {"td", "rect", "path", "circle", "g", "text"}
    data = payload(page)
    for text in (*data["bots"], data["match"], *(part for trouble in data["troubles"] for part in trouble[3:])):
        assert len(text) <= 600
        assert text.isprintable()
    assert "\u202e" not in page.html
    assert "\u2028" not in page.html


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(recorded: Recorded) -> None:
    html = page_of(recorded("yunnan", 2)).html
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digests = [b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (script, style)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "://" not in re.sub(r"http://www\.w3\.org/(2000/svg)", "", html)


@pytest.mark.long
def test_pictures_have_no_styles_or_links_that_the_policy_would_refuse(recorded: Recorded) -> None:
    for game in games():
        for tag, attributes in Tags(drawn(recorded(game, find(game).seat_counts.stop - 1), 0)[-1]).found:
            assert not {"style", "class"} & attributes.keys(), (game, tag, attributes)
            assert (attributes.get("href") or "#").startswith("#"), (game, tag, attributes)
