"""Taking in bots: programs, folders and archives, and everything that is wrong or hostile in them."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from ladder import intake
from ladder.errors import BadBot
from ladder.intake import hash_of, take_in

PROGRAM = "#!/bin/sh\nexit 0\n"


def bot_folder(path: Path, manifest: str | None = None, program: str = "bot") -> Path:
    path.mkdir()
    (path / program).write_text(PROGRAM)
    (path / program).chmod(0o755)
    if manifest is not None:
        (path / "bot.toml").write_text(manifest)
    return path


def zipped(path: Path, entries: dict[str, bytes], modes: dict[str, int] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = ((modes or {}).get(name, 0o755)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path


def tarred(path: Path, entries: list[tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for entry in entries:
            data = PROGRAM.encode() if entry.isfile() else b""
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def entry(name: str, **attributes: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode = 0o755
    for key, value in attributes.items():
        setattr(info, key, value)
    return info


def test_a_folder_an_archive_and_a_copy_of_it_are_the_same_version(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot")
    archive = zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode()})
    tar = tarred(tmp_path / "bot.tgz", [entry("bot")])
    hashes = {take_in(path, tmp_path / "versions").content_hash for path in (folder, archive, tar)}
    assert len(hashes) == 1
    [stored] = (tmp_path / "versions").iterdir()
    assert hash_of(stored) == stored.name
    assert os.access(stored / "bot", os.X_OK)
    assert not (stored / "bot").stat().st_mode & 0o222


def test_another_content_or_mode_is_another_version(tmp_path: Path) -> None:
    hashes = set()
    for number, (text, mode) in enumerate([("a", 0o755), ("b", 0o755), ("b", 0o644)]):
        folder = bot_folder(tmp_path / f"bot{number}")
        (folder / "data").write_text(text)
        (folder / "data").chmod(mode)
        hashes.add(take_in(folder, tmp_path / "versions").content_hash)
    assert len(hashes) == 3


def test_a_single_program_runs_as_it_is_and_a_python_file_with_python(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", program="mybot")
    assert take_in(folder / "mybot", tmp_path / "versions").run == ("./mybot",)
    (tmp_path / "player.py").write_text("pass")
    assert take_in(tmp_path / "player.py", tmp_path / "versions").run == ("python", "player.py")


def test_the_manifest_says_how_it_is_run_and_what_it_plays(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", 'name = "x"\ngames = ["cargo_noir"]\nrun = ["java", "-jar", "b.jar"]')
    artefact = take_in(folder, tmp_path / "versions")
    assert (artefact.run, artefact.games) == (("java", "-jar", "b.jar"), ("cargo_noir",))


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ("[[[", "is not TOML"),
        ("run = 3", "bot.toml.run must be a list"),
        ("run = []", "at least the program"),
        ('run = ["./other"]', "there is no file ./other"),
        ('games = ["chess"]', "names 'chess'; the games are: cargo_noir"),
        ("colour = 1", "bot.toml.colour is not known"),
        ("a = " + "[" * 3000, "is not TOML"),
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, manifest: str, reason: str) -> None:
    with pytest.raises(BadBot, match=reason.replace("[", r"\[")):
        take_in(bot_folder(tmp_path / "bot", manifest), tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


def test_a_bot_that_does_not_say_how_to_start_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", program="one")
    (folder / "two").write_text("")
    with pytest.raises(BadBot, match="does not say how to start it"):
        take_in(folder, tmp_path / "versions")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(BadBot, match="is not executable"):
        take_in(tmp_path / "notes.txt", tmp_path / "versions")
    with pytest.raises(BadBot, match="there is no file"):
        take_in(tmp_path / "nothing", tmp_path / "versions")


@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a/../../escape", "a\\..\\escape", ".."])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    for archive in (
        zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode(), name: b"x"}),
        tarred(tmp_path / "bot.tgz", [entry("bot"), entry(name)]),
    ):
        with pytest.raises(BadBot, match="leads out"):
            take_in(archive, tmp_path / "versions")
    assert not list(tmp_path.rglob("escape"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(BadBot, match="not taken in"):
        take_in(
            tarred(tmp_path / "b.tgz", [entry("bot"), entry("x", type=kind, linkname="/etc/passwd")]), tmp_path / "v"
        )
    with pytest.raises(BadBot, match="not taken in"):
        take_in(zipped(tmp_path / "b.zip", {"bot": b"", "x": b"/etc/passwd"}, {"x": 0o120777}), tmp_path / "v")
    folder = bot_folder(tmp_path / f"bot{kind!r}")
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(BadBot, match="not taken in"):
        take_in(folder, tmp_path / "v")


def test_bombs_are_refused_by_what_is_written_not_by_what_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(intake, "MAX_FILES", 50)
    bomb = zipped(tmp_path / "bomb.zip", {"bot": b"\0" * 50_000_000})
    assert bomb.stat().st_size < 100_000
    with pytest.raises(BadBot, match="more than 1000000 bytes"):
        take_in(bomb, tmp_path / "versions")
    with pytest.raises(BadBot, match="more than 50 files"):
        take_in(zipped(tmp_path / "many.zip", {f"f{n}": b"" for n in range(60)}), tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBot, match="two files are called"):
        take_in(tarred(tmp_path / "b.tgz", [entry("bot"), entry("bot")]), tmp_path / "versions")


@pytest.mark.parametrize("cut", [30, 60, 90])
def test_a_damaged_archive_is_refused(tmp_path: Path, cut: int) -> None:
    archive = zipped(tmp_path / "bot.zip", {"bot": os.urandom(3000)})
    data = bytearray(archive.read_bytes())
    data[cut] ^= 0xFF
    archive.write_bytes(bytes(data))
    archive.chmod(0o644)
    with pytest.raises(BadBot):
        take_in(archive, tmp_path / "versions")


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot")
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe"))).write_text("x")
    with pytest.raises(BadBot, match="cannot be printed"):
        take_in(folder, tmp_path / "versions")


def test_damage_inside_an_archive_is_found(tmp_path: Path) -> None:
    for name in ("bot.zip", "bot.tar.gz"):
        path = tmp_path / name
        if name == "bot.zip":
            zipped(path, {"bot": os.urandom(5000) + PROGRAM.encode() * 200})
        else:
            tarred(path, [entry("bot"), *(entry(f"data{number}") for number in range(50))])
        whole = bytearray(path.read_bytes())
        for place in range(40, len(whole) - 400, max(1, len(whole) // 25)):
            damaged = whole[:]
            damaged[place] ^= 0xFF
            path.write_bytes(damaged)
            with pytest.raises(BadBot):
                take_in(path, tmp_path / "versions")


def test_a_command_with_a_nul_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", 'run = ["python", "x\\u0000.py"]')
    with pytest.raises(BadBot, match="cannot be printed"):
        take_in(folder, tmp_path / "versions")
