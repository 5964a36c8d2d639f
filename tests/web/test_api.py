"""The API for programs: the same documents as the commands print, refusals with reasons, and nothing that breaks it."""

from __future__ import annotations

import json
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ladder.facts.store import Store
from ladder.http.api.api import PREFIX, questions_by_path
from ladder.http.api.openapi import ERRORS, openapi
from ladder.http.requests.visit import Site
from ladder.intake.authors import Authors
from ladder.operation.home import Home
from ladder.operation.limits import Limits
from ladder.operation.meter import Allowance, AtATime, Meter
from ladder.questions.bots import BotsRequest, ShowRequest
from ladder.questions.caller import ANYBODY, Caller
from ladder.questions.comparing import CompareRequest, CrosstableRequest
from ladder.questions.desk import Desk
from ladder.questions.info import InfoRequest
from ladder.questions.match import LogRequest, MatchRequest
from ladder.questions.matches import MatchesRequest, PlayingRequest
from ladder.questions.news import NewsRequest
from ladder.questions.proof import KeyRequest
from ladder.questions.question import MAX_TEXT, Question, document
from ladder.questions.queue import QueueRequest
from ladder.questions.standings import TopRequest
from referee.records.record import unpacked
from tests.cases import mostly_long
from tests.ladder.archived import record_of
from tests.ladder.real_ladder import FAULTY, LONG, played_ladder
from tests.patience import patient
from tests.web.conftest import Browse, browsing
from tests.web.served import serving_pages

PLAYED = 8


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return played_ladder(tmp_path_factory.mktemp("shared") / "home", PLAYED)


@pytest.fixture(scope="module")
def client(home: Home) -> Iterator[httpx.Client]:
    with browsing(home, limits=Limits(requests=Meter(Allowance("requests", 10**9, 60)))) as client:
        yield client


@pytest.fixture(scope="module")
def token(home: Home) -> str:
    with Authors(home.database, create=False) as authors:
        return authors.add("ann")


def get(client: httpx.Client, path: str, **headers: str) -> Any:
    answer = client.get(PREFIX + path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["content-type"].startswith("application/json")
    return answer


def matches(home: Home, bot: str = FAULTY, *, over: bool = True) -> list[str]:
    with Store(home.database, create=False) as store:
        found = store.history.matches(PLAYED, versions=store.roster.find_versions(bot))
        return [one.match_id for one in found if store.schedule.is_over(one.block) is over]


def needed_of(question: Question) -> list[str]:
    """The names of what has to be given with a question."""
    return [field.name for field in msgspec.structs.fields(question.request) if field.required]


# --- answers ------------------------------------------------------------------------------------------------


def test_every_answer_is_the_document_of_the_desk(client: httpx.Client, home: Home) -> None:
    desk = Desk(home, ANYBODY)
    [match, *_] = matches(home)
    expected = {
        "/info": desk.ask(InfoRequest()),
        "/standings": desk.ask(TopRequest()),
        "/standings?game=cargo_noir&clock=60%2B0.5%2F10&by_options=true": desk.ask(
            TopRequest(game="cargo_noir", clock="60+0.5/10", by_options=True)
        ),
        "/bots": desk.ask(BotsRequest()),
        f"/bots/{FAULTY}": desk.ask(ShowRequest(bot=FAULTY)),
        f"/bots/{quote(f'{LONG} v1')}": desk.ask(ShowRequest(bot=f"{LONG} v1")),
        "/matches": desk.ask(MatchesRequest()),
        f"/matches?bot={FAULTY}&out=true&limit=2": desk.ask(MatchesRequest(bot=FAULTY, out=True, limit=2)),
        f"/matches/{match}": desk.ask(MatchRequest(match=match)),
        "/playing": desk.ask(PlayingRequest()),
        "/queue": desk.ask(QueueRequest()),
        "/key": Desk(home).ask(KeyRequest()),
        "/news": desk.ask(NewsRequest()),
        f"/news?bot={FAULTY}": desk.ask(NewsRequest(bot=FAULTY)),
        f"/compare?one={FAULTY}&other=best": desk.ask(CompareRequest(one=FAULTY, other="best")),
        "/crosstable?game=cargo_noir": desk.ask(CrosstableRequest(game="cargo_noir")),
    }
    paths = {path.partition("?")[0] for path in expected}
    for path, question in questions_by_path().items():
        if path not in paths and not (question.is_file or needed_of(question)):
            expected[path] = desk.ask(question.request())
    for path, answer in expected.items():
        said = get(client, path)
        assert said.status_code == 200, said.text
        assert said.json() == json.loads(json.dumps(document(answer))), path


def test_an_answer_is_made_once_while_it_is_fresh_and_for_each_author(
    home: Home, tmp_path: Path, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home.folder, tmp_path / "home")
    home = Home(tmp_path / "home")
    desks = []
    ask = Desk.ask

    def counted(desk: Desk, request: Any) -> Any:
        desks.append(desk)
        return ask(desk, request)

    monkeypatch.setattr(Desk, "ask", counted)
    client = browse(home, fresh_seconds=3600.0)
    with Authors(home.database, create=False) as authors:
        token = authors.add("zoe")
    first = get(client, "/bots")
    with Store(home.database, create=False) as store:
        store.roster.add_version("newest", "zoe", "hash", ["./bot"], ["yunnan"])
    assert get(client, "/bots").json() == first.json()
    assert len(desks) == 1
    for _ in range(2):
        assert "newest" in get(client, "/bots", authorization=f"Bearer {token}").text
    assert len(desks) == 3
    assert "newest" in get(browse(home, fresh_seconds=0.0), "/bots").text


def test_a_record_is_the_file_that_was_written(client: httpx.Client, home: Home) -> None:
    [match, *_] = matches(home)
    answer = client.get(f"{PREFIX}/matches/{match}/record")
    assert unpacked(home.archive, answer.content) == record_of(home, match)
    assert answer.headers["content-disposition"] == f'attachment; filename="{match}.jsonl.zst"'
    assert answer.headers["content-type"] == "application/octet-stream"


def test_who_reads_many_files_at_a_time_leaves_places_to_others(home: Home, token: str) -> None:
    few = Limits(files=AtATime(1, 2, "one at a time", "too many"))
    [match, *_] = matches(home)
    with (
        serving_pages(home, Site(), few) as url,
        httpx.Client(base_url=f"{url}{PREFIX}", timeout=patient(60)) as client,
        few.files.one("127.0.0.1"),  # a neighbour still reads
    ):
        refused = client.get(f"/matches/{match}/record")
        assert (refused.status_code, refused.json()["error"]["message"]) == (429, "one at a time")
        headers = {"authorization": f"Bearer {token}"}
        assert client.get(f"/matches/{match}/record", headers=headers).status_code == 200


def test_what_has_not_changed_is_not_sent_again(client: httpx.Client) -> None:
    tag = get(client, "/bots").headers["etag"]
    again = client.get(f"{PREFIX}/bots", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert get(client, "/bots", if_none_match='"another"').status_code == 200


# --- who asks -----------------------------------------------------------------------------------------------


def test_logs_are_for_their_author_alone_who_shows_a_token(client: httpx.Client, home: Home, token: str) -> None:
    [match, *_] = matches(home)
    mine = get(client, f"/logs/{match}?tail=2", authorization=f"Bearer {token}")
    assert mine.json() == document(Desk(home, Caller("ann")).ask(LogRequest(what=match, tail=2)))
    assert mine.headers["cache-control"] == "no-store"
    assert get(client, f"/logs/{match}").status_code >= 400
    assert get(client, f"/logs/{FAULTY}").json()["error"]["code"] == "forbidden"


def test_a_cookie_is_no_token(client: httpx.Client, token: str) -> None:
    assert get(client, "/info", cookie=f"dogana={token}; __Host-dogana={token}").json()["author"] == ""
    assert get(client, "/info", authorization=f"bearer {token}").json()["author"] == "ann"


@pytest.mark.parametrize("authorization", ["Bearer nothing", "Basic YTpi"])
def test_what_is_no_token_is_refused(client: httpx.Client, authorization: str) -> None:
    answer = get(client, "/info", authorization=authorization)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthenticated"


def test_who_asks_too_much_is_told_when_to_come_back(home: Home, token: str, browse: Browse) -> None:
    client = browse(home, limits=Limits(requests=Meter(Allowance("requests", 3, 600))))
    answers = [get(client, "/info") for _ in range(4)]
    assert answers[0].status_code == 200
    assert answers[-1].status_code == 429
    assert 0 < int(answers[-1].headers["retry-after"]) <= 600
    assert answers[-1].json()["error"]["code"] == "too_much"
    assert get(client, "/info", authorization=f"Bearer {token}").status_code == 200  # counted by itself


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/bots/bset", 404, "best"),
        ("/matches/zz", 404, "zz"),
        ("/standings?game=carg_noir", 404, "cargo_noir"),
        ("/standings?game=cargo_noir&clock=7%2B0", 400, "60+0.5/10"),
        ("/standings?game=cargo_noir&by_options=true&options[x]=1", 400, "x"),
        ("/standings?options=1", 400, "options"),
        ("/standings?game[=x", 400, "there is no parameter 'game['"),
        ("/standings?game[x=1", 400, "there is no parameter 'game[x'"),
        ("/standings?game=cargo_noir&game[xy=1", 400, "there is no parameter 'game[xy'"),
        ("/standings?game=cargo_noir&options[=1", 400, "there is no parameter 'options['"),
        ("/standings?game=cargo_noir&options[]=1", 400, "there is no parameter 'options[]'"),
        ("/matches?limit=-1", 400, "whole number"),
        ("/matches?limit=4294967296", 400, "whole number"),
        ("/matches?limit=%D9%A3", 400, "whole number"),
        ("/matches?lost=yes", 400, "true or false"),
        ("/matches?match=1", 400, "limit"),
        ("/matches?limit=1&limit=2", 400, "twice"),
        (f"/matches?bot={'x' * 201}", 400, "200 characters"),
        ("/bots/' or 1=1 --", 404, "there is no bot"),
        ("/bots/..%2f..%2fladder.db", 404, ""),
        ("/stending", 404, "did you mean /api/v1/standings?"),
        ("/bots/a%0Ab", 404, "there is no"),
    ],
)
def test_a_refusal_says_what_was_wrong(client: httpx.Client, path: str, status: int, says: str) -> None:
    answer = get(client, path)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, ERRORS[status]), answer.text
    assert says in error["message"]


def test_a_refusal_names_the_command_that_lists_the_names(client: httpx.Client) -> None:
    said = {"code": "not_found", "message": "there is no bot 'nope'", "command": "bots"}
    assert get(client, "/bots/nope").json()["error"] == said
    assert "command" not in get(client, "/bots/bset").json()["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "WHATEVER"])
def test_nothing_can_be_changed(client: httpx.Client, method: str) -> None:
    for path in ("/info", "/bots/best", "/nothing"):
        answer = client.request(method, PREFIX + path, content=b"{}")
        assert answer.status_code == 405
        assert answer.json()["error"]["code"] == "not_allowed"
        assert {"GET", "HEAD"} <= set(answer.headers["allow"].split(", "))


PREFLIGHT = {
    "Origin": "https://elsewhere.example",
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization",
}


def test_a_page_of_another_site_may_not_ask(client: httpx.Client) -> None:
    for path in ("/info", "/nothing", "/openapi.json"):
        for answer in (client.options(PREFIX + path, headers=PREFLIGHT), client.get(PREFIX + path, headers=PREFLIGHT)):
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("origins", "said"),
    [
        (["*"], "*"),
        (["https://charts.example", "https://elsewhere.example"], "https://elsewhere.example"),
        (["https://elsewhere.example:8443", "http://elsewhere.example"], None),
    ],
)
def test_a_page_of_another_site_may_ask_with_a_token_where_the_organiser_lets_it(
    home: Home, token: str, browse: Browse, origins: list[str], said: str | None
) -> None:
    client = browse(home, Site(cors_origins=frozenset(origins)))
    answer = client.options(f"{PREFIX}/bots/best", headers=PREFLIGHT)
    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert answer.headers.get("access-control-allow-origin") == said
    assert ("Authorization" in answer.headers.get("access-control-allow-headers", "")) is (said is not None)
    assert "access-control-allow-credentials" not in answer.headers
    for path in ("/info", "/nothing"):
        headers = {"Origin": PREFLIGHT["Origin"], "Authorization": f"Bearer {token}"}
        answer = client.get(PREFIX + path, headers=headers)
        assert answer.headers.get("access-control-allow-origin") == said
        assert "Origin" in answer.headers["vary"]


# --- the description ----------------------------------------------------------------------------------------

PATHS = list(questions_by_path())
DESCRIPTION = openapi(questions_by_path(), "../v1")


def test_the_description_has_every_path_and_a_sentence_on_everything(client: httpx.Client) -> None:
    said = get(client, "/openapi.json").json()
    assert said == DESCRIPTION
    assert set(said["paths"]) == set(PATHS)
    for operation in (one["get"] for one in said["paths"].values()):
        assert operation["summary"].endswith(".")
        assert "Raises" not in operation["summary"]
        assert all(parameter["description"].endswith(".") for parameter in operation["parameters"])
    for name, schema in said["components"]["schemas"].items():
        if name != "Error":
            assert schema["description"].endswith("."), name
            assert all(field["description"].endswith(".") for field in schema["properties"].values()), name
    standing = said["components"]["schemas"]["StandingRow"]
    assert standing["properties"]["mu"]["description"].startswith("TrueSkill's estimate")


def test_the_description_names_what_has_to_be_given(client: httpx.Client) -> None:
    """And a question without it is refused; without anything else it is answered."""
    for path, operations in DESCRIPTION["paths"].items():
        described = operations["get"]["parameters"]
        needed = [one["name"] for one in described if one.get("required") and one["in"] == "query"]
        assert needed + re.findall(r"{(\w+)}", path) == needed_of(questions_by_path()[path])
        if "{" not in path and path not in ("/key", "/audit-log"):  # which is made when the organiser first looks
            assert (get(client, path).status_code == 200) is (not needed), path
    for parameter in DESCRIPTION["paths"]["/standings"]["get"]["parameters"]:
        if parameter["name"] == "options":
            assert parameter["schema"]["propertyNames"]["maxLength"] == MAX_TEXT
            long = f"/standings?game=cargo_noir&by_options=true&options[{'x' * (MAX_TEXT + 1)}]=1"
            assert "200 characters" in get(client, long).json()["error"]["message"]


def test_tools_find_the_answers_by_the_description(client: httpx.Client, home: Home, browse: Browse) -> None:
    [server] = get(client, "/openapi.json").json()["servers"]
    assert client.get(urljoin("/api/v1/openapi.json", server["url"]) + "/info").status_code == 200
    assert urljoin("https://ladder.example/below/api/v1/openapi.json", server["url"]) == (
        "https://ladder.example/below/api/v1"
    )
    public = browse(home, Site(public_url="https://ladder.example/below"))
    [server] = get(public, "/openapi.json").json()["servers"]
    assert server["url"] == "https://ladder.example/below/api/v1"


def problems(value: Any, schema: dict[str, Any], where: str = "$") -> Iterator[str]:
    """Tell what of a document is not as a schema says; the part of JSON Schema that the description uses."""
    if reference := schema.get("$ref"):
        yield from problems(value, DESCRIPTION["components"]["schemas"][reference.rpartition("/")[2]], where)
        return
    if choices := schema.get("anyOf"):
        if all(list(problems(value, choice, where)) for choice in choices):
            yield f"{where} is none of {choices}: {value!r}"
        return
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "number": int | float,
        "integer": int,
        "null": type(None),
    }
    kind = schema["type"]
    if not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool)):
        yield f"{where} is no {kind}: {value!r}"
    elif kind == "object":
        yield from (f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, one in value.items():
            inner = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if inner:
                yield from problems(one, inner, f"{where}.{name}")
            elif "properties" in schema:
                yield f"{where}.{name} is not described"
    elif kind == "array":
        for number, one in enumerate(value):
            yield from problems(one, schema["items"], f"{where}[{number}]")
    elif kind == "integer" and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where} is out of bounds: {value}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{where} is none of {schema['enum']}"


def check(answer: Any, operation: dict[str, Any]) -> None:
    """Check that an answer is one that the description allows, and no failure."""
    assert answer.status_code < 500, answer.text
    if answer.status_code == 308:  # a slash at the end is left out
        assert re.match(r"/[^/\\]", answer.headers["location"])
        return
    said = operation["responses"].get(str(answer.status_code), operation["responses"]["default"])
    if answer.status_code != 304:
        media_type = answer.headers["content-type"]
        schema = said["content"][media_type].get("schema")
        if schema:
            assert list(problems(json.loads(answer.content), schema)) == []


NAMES = st.sampled_from(["best", f"{FAULTY} v1", LONG, "greedy", "cargo_noir", "60+0.5/10", "true", "3", "0"])
PLAIN = string.ascii_letters + string.digits + string.punctuation + " "
TEXTS = NAMES | st.text(max_size=40) | st.text(string.printable, max_size=40)


@given(data=st.data())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("path", mostly_long(PATHS, 3))
def test_whatever_is_asked_the_answer_is_as_described(
    client: httpx.Client, home: Home, token: str, path: str, data: st.DataObject
) -> None:
    """Any path, query and headers: of what the description names, and of anything else."""
    operation = DESCRIPTION["paths"][path]["get"]
    url, query = path, {}
    ids = st.sampled_from(matches(home)).map(lambda one: one[: data.draw(st.integers(1, len(one)))])
    for parameter in operation["parameters"]:
        name = parameter["name"]
        if parameter["in"] == "path":
            value = data.draw((TEXTS | ids).filter(lambda text: text.strip("/.") != ""))
            url = url.replace(f"{{{name}}}", quote(value, safe="", errors="replace"))
        elif data.draw(st.booleans()):
            if parameter["schema"]["type"] == "object":
                query[f"{name}[{data.draw(TEXTS)}]"] = data.draw(TEXTS)
            else:
                typed = {"boolean": st.sampled_from(["true", "false"]), "integer": st.integers(0, 2**32 - 1).map(str)}
                query[name] = data.draw(typed.get(parameter["schema"]["type"], TEXTS | ids) | TEXTS)
    if data.draw(st.integers(0, 5)) == 0:
        query[data.draw(TEXTS)] = data.draw(TEXTS)
    headers = {}
    if data.draw(st.booleans()):
        headers["Authorization"] = data.draw(
            st.sampled_from([f"Bearer {token}"]) | st.text(PLAIN, max_size=20).map(str.strip)
        )
    parameters = "&".join(
        f"{quote(name, errors='replace')}={quote(value, errors='replace')}" for name, value in query.items()
    )
    answer = client.get(f"{PREFIX}{url}?{parameters}", headers=headers)
    check(answer, operation)
    if answer.status_code == 200 and not path.endswith(("record", "audit-log")):
        json.loads(answer.content.decode("ascii"))
