"""How much room the bots of an author take: what they may, and what is removed of it when it plays no more."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ladder.archive.quotas import bytes_of, check_quota
from ladder.archive.retention import prune_versions, remove_version
from ladder.facts.standings import at_rest, requalify, retire
from ladder.facts.store import Store
from ladder.intake.authors import Authors
from ladder.intake.submission import Inspector, submit
from ladder.model.condition import Condition
from ladder.model.match import Version
from ladder.operation.errors import CannotPlay, LadderError, NotFound
from ladder.operation.home import Home
from ladder.play.qualifying import enter_house_bots
from referee.bots import files
from referee.bots.files import take_in
from tests.commands.conftest import Dogana, dogana

__all__ = ["dogana"]

PROGRAM = "from dogana.sdk import play\nplay(lambda decision: 0)\n"


def bot(folder: Path, number: int, size: int = 10_000) -> Path:
    """A program of so many bytes; each number has another one."""
    path = folder / f"bot{number}.py"
    path.write_text(PROGRAM + f"# {number:06}".ljust(size - len(PROGRAM) - 1, "#") + "\n")
    assert path.stat().st_size == size
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def set_quota(home: Home, author: str, size: int | None) -> None:
    with Authors(home.database, create=False) as authors:
        authors.set_quota(author, size)


def folders(home: Home) -> set[str]:
    return {path.name for path in home.versions.iterdir()}


def test_what_exceeds_a_quota_is_refused_in_a_line_and_leaves_nothing(tmp_path: Path, home: Home) -> None:
    first, _ = submit(home, bot(tmp_path, 1), "one", "ann")
    set_quota(home, "ann", 25_000)
    second, _ = submit(home, bot(tmp_path, 2), "two", "ann")
    with pytest.raises(LadderError) as refused:
        submit(home, bot(tmp_path, 3), "three", "ann")
    assert str(refused.value).startswith(
        "the files of ann have 20,000 bytes on this ladder; with 10,000 more they would have more than the 25,000 that are allowed"
    )
    assert "\n" not in str(refused.value)
    assert folders(home) == {first.content_hash, second.content_hash}
    with Store(home.database, create=False) as store:
        assert {one.bot for one in store.roster.versions().values()} == {"one", "two"}
    assert submit(home, bot(tmp_path, 1), "one", "ann") == (first, False), "what is there takes no more room"
    submit(home, bot(tmp_path, 3), "three", "bob")
    set_quota(home, "ann", None)
    submit(home, bot(tmp_path, 4), "four", "ann")


def test_without_a_quota_a_default_holds(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 1), "one", "ann")
    more = take_in(bot(tmp_path, 2), home.versions).content_hash
    with Store(home.database, create=False) as store:
        check_quota(home, store, "ann", more)
        with pytest.raises(LadderError, match="15,000 that are allowed"):
            check_quota(home, store, "ann", more, default=15_000)


def test_the_list_of_authors_says_what_their_files_take_and_may_take(
    tmp_path: Path, home: Home, dogana: Dogana
) -> None:
    submit(home, bot(tmp_path, 1, size=1_500_000), "one", "ann")
    with Authors(home.database, create=False) as authors:
        authors.add("ann")
        authors.add("bob")
    set_quota(home, "ann", 3 * 2**20)
    set_quota(home, "bob", None)
    command = ("ladder", "author", "list", "--home", home.folder)
    assert [one["files"] for one in json.loads(dogana(*command, "--json").stdout)] == [
        {"bytes": 1_500_000, "quota": 3 * 2**20},
        {"bytes": 0, "quota": None},
    ]
    assert "1.4 of 3 " in dogana(*command).stdout


def test_files_that_others_have_too_count_for_each_who_submits_them(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 1), "one", "ann")
    submit(home, bot(tmp_path, 1), "other", "ann")
    set_quota(home, "ann", 20_000)
    submit(home, bot(tmp_path, 2), "two", "ann")
    assert len(folders(home)) == 2


def test_empty_files_and_folders_count_as_a_block_each(tmp_path: Path, home: Home) -> None:
    """Otherwise an author could take all the files that the disk can hold, within any quota."""
    submit(home, bot(tmp_path, 1), "one", "ann")
    before = folders(home)
    folder = tmp_path / "mybot"
    (folder / "empty").mkdir(parents=True)
    for number in range(98):
        (folder / "empty" / str(number)).touch()
    bot(folder, 2).rename(folder / "bot.py")
    (folder / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    set_quota(home, "ann", 20_000 + 100 * 4096 - 1)
    with pytest.raises(LadderError, match="with 419,600 more they would have more than the 429,599 that are allowed"):
        submit(home, folder, "mybot", "ann")
    assert folders(home) == before
    set_quota(home, "ann", 20_000 + 100 * 4096)
    submit(home, folder, "mybot", "ann")


def test_two_submits_at_the_same_moment_do_not_pass_together(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 0), "bot", "ann")
    set_quota(home, "ann", 30_000)
    ready, refused = threading.Barrier(6), []

    def send(number: int) -> None:
        ready.wait()
        try:
            submit(home, bot(tmp_path, number), f"bot{number}", "ann")
        except LadderError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 4
    assert all("are allowed" in text for text in refused)
    assert sum(bytes_of(home.versions / name) for name in folders(home)) == 30_000


def test_the_organiser_sets_quotas(tmp_path: Path, dogana: Dogana) -> None:
    dogana("ladder", "author", "add", "ann", "--home", "home")
    assert "ann: 524,288,000 bytes" in dogana("ladder", "author", "quota", "ann", "500M", "--home", "home").stdout
    assert "ann: no limit" in dogana("ladder", "author", "quota", "ann", "none", "--home", "home").stdout
    assert "no author 'bob'" in dogana("ladder", "author", "quota", "bob", "1G", "--home", "home", status=1).stderr
    for wrong in ("much", "999999999999999T"):
        assert "such as 500M" in dogana("ladder", "author", "quota", "ann", wrong, "--home", "home", status=2).stderr
    assert "author quota" in dogana("ladder", "audit", "--home", "home").stdout
    with Authors(Home(tmp_path / "home").database, create=False) as authors:
        assert authors.budgets.quotas() == {"ann": None}
        with pytest.raises(NotFound):
            authors.set_quota("bob", 1)


# what plays no more


@pytest.fixture
def versions(tmp_path: Path, home: Home) -> dict[int, Version]:
    """Five versions of a bot under one condition: 1 to 4 have qualified, 5 has not."""
    found = {number: submit(home, bot(tmp_path, number), "mybot", "ann")[0] for number in range(1, 6)}
    with Store(home.database, create=False) as store:
        condition = condition_of(store)
        enter_house_bots(store, condition)
        for number, version in found.items():
            store.admission.qualify(version.id, condition, passed=number < 5, reason="" if number < 5 else "crash")
    return found


def condition_of(store: Store) -> Condition:
    return store.roster.condition("cargo_noir", {}, "60+0.5/10")


def later() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="milliseconds")


def test_versions_that_nothing_starts_again_are_pruned_and_those_that_could_play_stay(
    tmp_path: Path, home: Home, versions: dict[int, Version]
) -> None:
    with Store(home.database, create=False) as store:
        assert at_rest(store) == {versions[number].id for number in (1, 2, 5)}
        assert prune_versions(home, store, later(), dry_run=True) == (3, 30_000)
        assert len(folders(home)) == 5
        assert prune_versions(home, store, versions_before()) == (0, 0), "they have played until now"
        assert prune_versions(home, store, later()) == (3, 30_000)
        assert folders(home) == {versions[number].content_hash for number in (3, 4)}
        assert prune_versions(home, store, later()) == (0, 0)
    with Authors(home.database, create=False) as authors:
        [last] = authors.acts(1)
        assert (last.did, last.about[:28]) == ("prune", "files of 3 versions that pla")
    inspector = Inspector(home.versions)
    with pytest.raises(CannotPlay, match="submit the same again to restore them"):
        inspector.check(versions[1])
    assert submit(home, bot(tmp_path, 1), "mybot", "ann") == (versions[1], False)
    inspector.check(versions[1])


def test_files_that_were_pruned_come_back_only_if_the_quota_has_room_for_them(
    tmp_path: Path, home: Home, versions: dict[int, Version]
) -> None:
    with Store(home.database, create=False) as store:
        prune_versions(home, store, later())
    before = folders(home)
    assert before == {versions[number].content_hash for number in (3, 4)}
    set_quota(home, "ann", 25_000)
    for _ in range(2):
        with pytest.raises(LadderError, match="25,000 that are allowed"):
            submit(home, bot(tmp_path, 1), "mybot", "ann")
        assert folders(home) == before


def test_files_of_a_version_that_may_play_stay_when_they_come_back_in_a_submission_that_is_refused(
    tmp_path: Path, home: Home, versions: dict[int, Version]
) -> None:
    remove_version(home, versions[4].content_hash)
    set_quota(home, "ann", 25_000)
    with pytest.raises(LadderError, match="25,000 that are allowed"):
        submit(home, bot(tmp_path, 4), "mybot", "ann")
    assert versions[4].content_hash in folders(home)


def test_files_that_were_there_and_belong_to_nobody_need_room_in_the_quota(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 1), "one", "ann")
    before = folders(home)
    set_quota(home, "ann", 15_000)
    take_in(bot(tmp_path, 2), home.versions)
    with pytest.raises(LadderError, match="15,000 that are allowed"):
        submit(home, bot(tmp_path, 2), "two", "ann")
    assert folders(home) == before


def test_nothing_is_left_of_a_submission_to_a_ladder_that_cannot_be_opened(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 1), "one", "ann")
    before = folders(home)
    home.key.unlink()
    with pytest.raises(LadderError):
        submit(home, bot(tmp_path, 2), "two", "ann")
    assert folders(home) == before, "without its key"
    home.database.write_bytes(b"rubbish" * 1000)
    with pytest.raises(LadderError):
        submit(home, bot(tmp_path, 2), "two", "ann")
    with pytest.raises(LadderError):
        submit(home, bot(tmp_path, 1), "one", "ann")
    assert folders(home) == before, "without what it knows"


def test_the_files_of_a_version_stay_if_its_submission_is_interrupted_once_it_is_in(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Store) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Store, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        submit(home, bot(tmp_path, 1), "one", "ann")
    monkeypatch.undo()
    with Store(home.database, create=False) as store:
        [version] = store.roster.versions().values()
    Inspector(home.versions).check(version)


def test_the_files_that_a_killed_submission_has_left_closed_are_opened_by_the_next(tmp_path: Path, home: Home) -> None:
    submit(home, bot(tmp_path, 1), "one", "ann")
    closed = home.versions / take_in(bot(tmp_path, 2), home.versions).content_hash
    closed.chmod(0o700)  # as it is between its last two steps: a bot that runs as another user could not read it
    submit(home, bot(tmp_path, 2), "two", "ann")
    assert closed.stat().st_mode & 0o777 == 0o555


def test_files_that_a_pruning_removes_while_the_same_are_submitted_are_put_there_again(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = submit(home, bot(tmp_path, 1), "one", "ann")
    read = files.hash_of

    def pruned_meanwhile(folder: Path) -> str:
        if folder == home.versions / first.content_hash:
            monkeypatch.undo()
            remove_version(home, first.content_hash)
        return read(folder)

    monkeypatch.setattr(files, "hash_of", pruned_meanwhile)
    assert submit(home, bot(tmp_path, 1), "one", "ann") == (first, False)
    Inspector(home.versions).check(first)


def versions_before() -> str:
    return (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="milliseconds")


def test_a_retired_bot_is_pruned_whole_and_one_that_comes_back_is_not(home: Home, versions: dict[int, Version]) -> None:
    with Store(home.database, create=False) as store:
        retire(store, list(versions.values()))
        assert at_rest(store) == {one.id for one in versions.values()}
        requalify(store, [versions[1]])
        assert versions[1].id not in at_rest(store)


def test_files_stay_as_long_as_one_version_with_them_may_play(
    tmp_path: Path, home: Home, versions: dict[int, Version]
) -> None:
    submit(home, bot(tmp_path, 1), "another", "ann")
    with Store(home.database, create=False) as store:
        prune_versions(home, store, later())
    assert versions[1].content_hash in folders(home)


def test_a_version_in_a_match_that_is_not_over_stays(home: Home, versions: dict[int, Version]) -> None:
    with Store(home.database, create=False) as store:
        condition = condition_of(store)
        other = next(one for one in store.roster.versions().values() if one.is_house)
        tables = {"a" * 16: [versions[1].id, other.id], "b" * 16: [other.id, versions[1].id]}
        store.schedule.add_block(condition, 1, tables, 1, 0, {})
        assert versions[1].id not in at_rest(store)
        assert versions[2].id in at_rest(store)


def test_the_command_tells_what_it_removes(home: Home, versions: dict[int, Version], dogana: Dogana) -> None:
    words = ("ladder", "prune", "--versions-older-than", "1d", "--home", str(home.folder))
    assert "the files of 0 versions" in dogana(*words, "--dry-run").stdout
    assert json.loads(dogana(*words, "--json").stdout)["versions"] == 0
    assert len(folders(home)) == 5
