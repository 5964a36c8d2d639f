"""Taking in bots: programs, folders and archives, and everything that is wrong or hostile in them."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import socket
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ladder.intake import submission
from ladder.intake.authors import Authors
from ladder.intake.submission import Inspector, submit
from ladder.model.match import Version
from ladder.model.names import skeleton
from ladder.operation.errors import CannotPlay, LadderError
from ladder.operation.home import Home
from referee.bots import files
from referee.bots.errors import BadBot
from referee.bots.files import BotLimits, hash_of, take_in
from tests.cases import mostly_long

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
    nameless = tmp_path / "download"  # known by its content
    nameless.write_bytes(tar.read_bytes())
    hashes = {take_in(path, tmp_path / "versions").content_hash for path in (folder, archive, tar, nameless)}
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
    (folder / "b.jar").touch()
    artefact = take_in(folder, tmp_path / "versions")
    assert (artefact.run, artefact.games) == (("java", "-jar", "b.jar"), ("cargo_noir",))


def test_a_program_of_the_bot_may_be_called_env(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", 'run = ["./env"]', program="env")
    assert take_in(folder, tmp_path / "versions").run == ("./env",)


@pytest.mark.parametrize(
    "run",
    [["python", "-m", "bot", "out.py"], ["python", "-c", "pass", "x.py"], ["java", "-cp", "x.jar", "Main", "y.jar"]],
)
def test_a_file_that_only_the_bot_itself_may_make_need_not_be_there(tmp_path: Path, run: list[str]) -> None:
    folder = bot_folder(tmp_path / "bot", f"run = {json.dumps(run)}")
    assert take_in(folder, tmp_path / "versions").run == tuple(run)


@pytest.mark.parametrize(
    ("manifest", "language"),
    [
        ('language = "Rust"', "Rust"),
        ('language = "C++"\nrun = ["python", "bot.py"]', "C++"),
        ('run = ["python", "bot.py"]', "Python"),
        ('run = ["python3", "-m", "bot"]', "Python"),
        ('run = ["./bot", "strategy.py"]', ""),
        ('run = ["java", "-jar", "b.jar"]', ""),
        ("", ""),
    ],
)
def test_a_language_is_what_the_manifest_names_or_what_the_command_shows(
    tmp_path: Path, manifest: str, language: str
) -> None:
    folder = bot_folder(tmp_path / "bot", manifest)
    for name in ("bot.py", "b.jar"):
        (folder / name).touch()
    assert take_in(folder, tmp_path / "versions").language == language


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ('language = "' + "x" * 21 + '"', "bot.toml.language must have at most 20 characters"),
        ('language = "a\\u202eb"', "which can be printed"),
        ("[[[", "is not TOML"),
        ("run = 3", "bot.toml.run must be a list"),
        ("run = []", "at least the program"),
        ('run = ["./other"]', "there is no file ./other"),
        ('games = ["chess"]', "bot.toml.games[0] must be one of cargo_noir, valparaiso, venezia, yunnan, not 'chess'"),
        ("games = []", "bot.toml.games must name a game; the games are: cargo_noir, valparaiso, venezia, yunnan"),
        ('games = ["venezia", "venezia"]', "bot.toml.games[1] names venezia a second time"),
        ("colour = 1", "bot.toml.colour is not known here; the known entries are: games, language, name, run"),
        ("a = " + "[" * 3000, "is not TOML"),
        ("a = " + "1" * 5000, "is not TOML"),
        ("# " + "x" * 70_000, "has more than 65536 bytes"),
        ('run = ["../../bin/sh"]', "leads out of the bot's folder"),
        ('run = ["/bin/sh"]', "leads out of the bot's folder"),
        ('run = ["python", "../other/bot.py"]', "leads out of the bot's folder"),
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, manifest: str, reason: str) -> None:
    with pytest.raises(BadBot, match=reason.replace("[", r"\[")):
        take_in(bot_folder(tmp_path / "bot", manifest), tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


def test_a_misspelt_entry_is_named_before_the_program_that_it_hides(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", 'runn = ["./one"]', program="one")
    (folder / "two").write_text("x")
    with pytest.raises(BadBot, match=r"bot\.toml\.runn is not known here"):
        take_in(folder, tmp_path / "versions")


def test_a_bot_that_does_not_say_how_to_start_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot", program="one")
    (folder / "two").write_text("")
    with pytest.raises(BadBot, match="does not say how to start it"):
        take_in(folder, tmp_path / "versions")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(
        BadBot, match=r'is not executable; use chmod .* with a bot.toml that says run = \["PROGRAM", "notes.txt"\]'
    ):
        take_in(tmp_path / "notes.txt", tmp_path / "versions")
    with pytest.raises(BadBot, match="there is no file"):
        take_in(tmp_path / "nothing", tmp_path / "versions")


@pytest.fixture
def usual(tmp_path: Path) -> Path:
    """The only folder of usual programs besides that of this Python, if `programs_in` is searched; it has `node`, `java` and `env`."""
    folder = tmp_path / "usual"
    folder.mkdir()
    for name in ("node", "java", "env"):
        (folder / name).write_text(PROGRAM)
        (folder / name).chmod(0o755)
    return folder


def programs_in(usual: Path) -> str:
    return f"{Path(sys.executable).parent}:{usual}"


@pytest.mark.parametrize(
    ("name", "runs", "run"),
    [
        ("mybot.jar", False, ("java", "-jar", "mybot.jar")),
        ("mybot.jar", True, ("java", "-jar", "mybot.jar")),
        ("bot.js", False, ("node", "bot.js")),
        ("bot.mjs", True, ("node", "bot.mjs")),
        ("bot.py", True, ("python", "bot.py")),
    ],
)
def test_what_is_no_program_by_itself_is_run_by_what_its_name_says(
    tmp_path: Path, usual: Path, name: str, *, runs: bool, run: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text("no first line that names an interpreter")
    if name.endswith(".jar"):
        zipped(tmp_path / name, {f"{number}.class": b"" for number in range(30)})
    (tmp_path / name).chmod(0o755 if runs else 0o644)
    assert take_in(tmp_path / name, tmp_path / "versions", programs=programs_in(usual)).run == run
    folder = tmp_path / "bot"
    folder.mkdir()
    (tmp_path / name).rename(folder / name)
    assert take_in(folder, tmp_path / "versions", programs=programs_in(usual)).run == run


@pytest.mark.parametrize(
    ("text", "run", "reason"),
    [
        ("x", ["./bot.js"], '/bot.js, and begin it with a line such as #!/usr/bin/env python3; or give its folder, with a bot.toml that says run = ["node", "bot.js"]'),
        ("x", ["./bot.js", "-q"], 'run = ["node", "bot.js", "-q"]'),
        ("+x", ["./bot.js"], 'has no #! line, and is not a program for Linux; begin it with a line such as #!/usr/bin/env python3; or give its folder, with a bot.toml that says run = ["node"'),
        ("#!/home/me/node\n", ["./bot.js"], 'bot.js wants /home/me/node, which is not among the usual programs here; or'),
        ("#!/usr/bin/env ruby\n", ["./bot.js"], "bot.js wants ruby, which is not among"),
        ("#!/usr/bin/env -S deno run\n", ["./bot.js"], "bot.js wants deno, which is not among"),
        ("#!/usr/bin/env node\r\n", ["./bot.js"], "has the line ends of Windows"),
        ("x", ["ruby", "bot.js"], 'there is no program ruby in'),
        ("x", ["bot.js"], 'bot.js is not a usual program, but a file of the bot; or give its folder, with a bot.toml that says run = ["./bot.js"]'),
        ("#!/old/venv/bin/python\n", ["./venv/bin/bot.js"], 'run = ["./venv/bin/python", "venv/bin/bot.js"]'),
    ],
)  # fmt: skip
def test_a_program_that_cannot_be_started_is_refused_with_the_line_to_write(
    tmp_path: Path, usual: Path, text: str, run: list[str], reason: str
) -> None:
    folder = bot_folder(tmp_path / "bot", f"run = {run}")
    (folder / "venv" / "bin").mkdir(parents=True)
    (folder / "venv" / "bin" / "python").write_text(PROGRAM)
    for place in (folder, folder / "venv" / "bin"):
        (place / "bot.js").write_text(text)
        (place / "bot.js").chmod(0o755 if text[0] in "+#" else 0o644)
    with pytest.raises(BadBot, match=re.escape(reason)):
        take_in(folder, tmp_path / "versions", programs=programs_in(usual))


@pytest.mark.parametrize(
    "line", ["#!/usr/bin/env node", "#!/usr/bin/env -S node --stack-size=9000", "#!{usual}/node -q"]
)
def test_a_script_whose_interpreter_is_a_usual_program_is_taken_in(tmp_path: Path, usual: Path, line: str) -> None:
    folder = bot_folder(tmp_path / "bot")
    (folder / "bot").write_text(line.format(usual=usual) + "\n")
    assert take_in(folder, tmp_path / "versions", programs=programs_in(usual)).run == ("./bot",)


def test_a_virtual_environment_works_where_it_is_taken_to(tmp_path: Path) -> None:
    if not Path("/usr/bin/python3").exists():
        pytest.skip("this system has no /usr/bin/python3: apt-get install python3-venv")
    folder = bot_folder(tmp_path / "bot", 'run = ["venv/bin/python", "bot.py"]', program="bot.py")
    made = subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", folder / "venv"], check=False)
    if made.returncode:
        pytest.skip("/usr/bin/python3 cannot make virtual environments: apt-get install python3-venv")
    stored = tmp_path / "versions" / take_in(folder, tmp_path / "versions").content_hash
    shutil.rmtree(folder)
    program = [str(stored / "venv" / "bin" / "python"), "-c", "import sys; print(sys.prefix)"]
    assert subprocess.check_output(program, text=True).strip() == str(stored / "venv")


@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a/../../escape", "a\\..\\escape", ".."])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    for archive in (
        zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode(), name: b"x"}),
        tarred(tmp_path / "bot.tgz", [entry("bot"), entry(name)]),
    ):
        with pytest.raises(BadBot, match="leads out"):
            take_in(archive, tmp_path / "versions")
    assert not list(tmp_path.rglob("escape"))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(BadBot, match="not taken in"):
        take_in(tarred(tmp_path / "b.tgz", [entry("bot"), entry("x", type=kind)]), tmp_path / "v")


def linked(tmp_path: Path, links: dict[str, str], *, manifest: str = 'run = ["./bot"]') -> list[Path]:
    """A bot with links, as a folder, a .zip and a .tar.gz."""
    folder = bot_folder(tmp_path / "bot", manifest)
    (folder / "data").mkdir()
    (folder / "data" / "notes").write_text("x")
    (folder / "data" / "notes").chmod(0o644)
    (folder / "bot.toml").chmod(0o644)
    for name, target in links.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    files = {"bot": PROGRAM, "bot.toml": manifest, "data/notes": "x"}
    modes = {"bot.toml": 0o644, "data/notes": 0o644, **dict.fromkeys(links, 0o120777)}
    entries = {name: text.encode() for name, text in (files | links).items()}
    archive = zipped(tmp_path / "bot.zip", entries, modes)
    with tarfile.open(tmp_path / "bot.tar.gz", "w:gz") as tar:
        for name, data in entries.items():
            info = entry(name, mode=modes.get(name, 0o755), size=len(data))
            if name in links:
                info = entry(name, type=tarfile.SYMTYPE, linkname=links[name])
            tar.addfile(info, io.BytesIO(data))
    return [folder, archive, tmp_path / "bot.tar.gz"]


def test_links_that_stay_in_the_folder_or_lead_to_a_usual_program_are_kept_as_links(tmp_path: Path) -> None:
    links = {
        "node_modules/.bin/tool": "../../bot",
        "lib64": "data",
        "deep/down/notes": "../../data/notes",
        "tool": "/usr/bin/no-such-tool",
        "nowhere": "data/nowhere",
        "circle": "./circle",
    }
    paths = linked(tmp_path, links)
    [content_hash] = {take_in(path, tmp_path / "versions").content_hash for path in paths}
    stored = tmp_path / "versions" / content_hash
    assert {name: str((stored / name).readlink()) for name in links} == links | {"circle": "circle"}
    assert (stored / "deep" / "down" / "notes").read_text() == "x"
    Inspector(tmp_path / "versions").check(version(content_hash))
    stored.chmod(0o700)
    (stored / "lib64").unlink()
    (stored / "lib64").symlink_to("deep")
    with pytest.raises(CannotPlay, match="are not those that were submitted"):
        Inspector(tmp_path / "versions").check(version(content_hash))
    take_in(paths[0], tmp_path / "versions")  # it is restored, and what was changed removed


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ({"x": "/etc/passwd"}, "leads out of the bot's folder, to '/etc/passwd'; put a copy"),
        ({"x": "../bot"}, "leads out"),
        ({"data/x": "../../bot"}, "leads out"),
        ({"data/up": "..", "data/x": "up/../../etc"}, "leads out"),
        ({"data/up": "..", "x": "data/up/../bot"}, "leads out"),
        ({"a/b/up": "../..", "a/b/x": "up/../etc"}, "leads out"),
        ({"x": "/usr/bin/.."}, "leads out"),
        ({"x": "/usr/bin/../../etc/passwd"}, "leads out"),
        ({"x": "/usr/bin"}, "leads out"),
        ({"x": "/usr/bin/more/deep"}, "leads out"),
        (
            {"venv/bin/python": "/home/me/python3"},
            r"make the virtual environment with /usr/bin/python3, or leave it out",
        ),
        ({"x": "bot\n"}, "has a text that cannot be kept"),
        ({"x": "x/" * 600}, "has a text that cannot be kept"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path, links: dict[str, str], reason: str) -> None:
    for path in linked(tmp_path, links):
        with pytest.raises(BadBot, match=reason):
            take_in(path, tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


@pytest.mark.parametrize("target", ["data", "."])
def test_nothing_is_written_through_a_link(tmp_path: Path, target: str) -> None:
    entries = [entry("bot"), entry("data/notes"), entry("x", type=tarfile.SYMTYPE, linkname=target), entry("x/more")]
    with pytest.raises(BadBot, match="two files are called 'x/more'"):
        take_in(tarred(tmp_path / "bot.tgz", entries), tmp_path / "versions")
    entries = [entry("bot"), entry("x", type=tarfile.SYMTYPE, linkname="bot"), entry("x")]
    with pytest.raises(BadBot, match="two files are called 'x'"):
        take_in(tarred(tmp_path / "bot.tgz", entries), tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


def test_a_file_that_an_archive_has_under_two_names_is_two_files(tmp_path: Path) -> None:
    again = entry("lib/again", type=tarfile.LNKTYPE, linkname="bot")
    taken = take_in(tarred(tmp_path / "bot.tgz", [entry("bot"), again]), tmp_path / "versions")
    stored = tmp_path / "versions" / taken.content_hash
    assert (stored / "lib" / "again").read_text() == PROGRAM
    assert (stored / "bot").stat().st_nlink == 1
    for name in ("later", "/etc/passwd", "../bot", "x/notes"):
        again = entry("again", type=tarfile.LNKTYPE, linkname=name)
        link = entry("x", type=tarfile.SYMTYPE, linkname=".")
        with pytest.raises(BadBot, match=r"leads out|not an earlier file"):
            take_in(
                tarred(tmp_path / "b.tgz", [entry("bot"), entry("notes"), link, again, entry("later")]), tmp_path / "v"
            )


def test_bombs_are_refused_by_what_is_written_not_by_what_is_claimed(tmp_path: Path) -> None:
    limits = BotLimits(size=1_000_000, files=50)
    bomb = zipped(tmp_path / "bomb.zip", {"bot": b"\0" * 50_000_000})
    assert bomb.stat().st_size < 100_000
    with pytest.raises(BadBot, match="more than 1000000 bytes"):
        take_in(bomb, tmp_path / "versions", limits=limits)
    with pytest.raises(BadBot, match="more than 50 files"):
        take_in(zipped(tmp_path / "many.zip", {f"f{n}": b"" for n in range(60)}), tmp_path / "versions", limits=limits)
    assert not list((tmp_path / "versions").iterdir())


FEW_MEMORY = """
import resource, sys
from pathlib import Path
from referee.bots.errors import BadBot
from referee.bots.files import take_in
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (48 << 20),) * 2)
try:
    take_in(Path(sys.argv[1]), Path(sys.argv[2]))
except BadBot as error:
    print(error)
"""


def tar_bomb(path: Path, kind: bytes) -> None:
    """A header that declares 150 MB, which are a hole in the file."""
    head = tarfile.TarInfo("x")
    head.type, head.size = kind, 150 << 20
    with path.open("wb") as file:
        file.write(head.tobuf(tarfile.GNU_FORMAT))
        file.seek(head.size, io.SEEK_CUR)
        file.write(entry("bot").tobuf() + bytes(1024))


def sparse_bomb(path: Path) -> None:
    """A map of holes that has 20 million numbers."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        numbers = b"99999999\n" + b"0\n" * 20_000_000
        head = entry("bot", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "bot"})
        head.size = len(numbers)
        archive.addfile(head, io.BytesIO(numbers))


def old_sparse_bomb(path: Path) -> None:
    """The same in the way of older programs: as many extensions of a header as there are blocks."""
    head = bytearray(entry("bot", type=tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    head[482] = 1  # more follows
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    extension = bytearray(b"00000000001\0" * 42 + bytes(8))
    extension[504] = 1
    path.write_bytes(bytes(head) + bytes(extension) * 80_000)


def zip_of_many(path: Path) -> None:
    """A table of contents with 150,000 files."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bot", PROGRAM)
        contents = bytearray()
        archive.close()
    data = path.read_bytes()
    start = data.rindex(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    contents += data[start:end] * 150_000
    tail = bytearray(data[end:])
    tail[12:16] = len(contents).to_bytes(4, "little")
    path.write_bytes(data[:start] + contents + tail)


def tar_of_many_global_headers(path: Path) -> None:
    """The same with headers for all files that follow, which have other keys each time."""
    with path.open("wb") as file:
        for number in range(900):
            text = b"".join(b"1011 %04d=%s\n" % (key, b"x" * 1000) for key in range(number, number + 50))
            head = entry("x", type=tarfile.XGLTYPE)
            head.size = len(text)
            file.write(head.tobuf(tarfile.USTAR_FORMAT) + text + bytes(-len(text) % tarfile.BLOCKSIZE))
            file.write(entry(f"f{number}").tobuf(tarfile.USTAR_FORMAT))


def tar_of_many_headers(path: Path) -> None:
    """Files of which each has an extended header of 50 kB; together they have 45 MB."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for number in range(900):
            archive.addfile(entry(f"f{number}", pax_headers={str(key): "x" * 1000 for key in range(50)}))


BOMBS: dict[str, Callable[[Path], None]] = {
    "pax.tar": lambda path: tar_bomb(path, tarfile.XHDTYPE),
    "global.tar": lambda path: tar_bomb(path, tarfile.XGLTYPE),
    "name.tar": lambda path: tar_bomb(path, tarfile.GNUTYPE_LONGNAME),
    "link.tar": lambda path: tar_bomb(path, tarfile.GNUTYPE_LONGLINK),
    "sparse.tar": sparse_bomb,
    "old_sparse.tar": old_sparse_bomb,
    "headers.tar": tar_of_many_headers,
    "global_headers.tar": tar_of_many_global_headers,
    "many.zip": zip_of_many,
}


@pytest.mark.parametrize("name", mostly_long(BOMBS, 3))
def test_an_archive_whose_headers_would_fill_the_memory_is_refused_with_little(tmp_path: Path, name: str) -> None:
    BOMBS[name](tmp_path / name)
    command = [sys.executable, "-c", FEW_MEMORY, str(tmp_path / name), str(tmp_path / "versions")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("the archive's headers or its table of contents are too long\n", "")
    assert not list((tmp_path / "versions").iterdir())


def test_a_compressed_archive_is_unpacked_only_so_far(tmp_path: Path) -> None:
    limits = BotLimits(size=1_000_000, headers=100_000)
    bomb = tmp_path / "bot.tar.gz"
    bomb.write_bytes(gzip.compress(entry("bot").tobuf() + bytes(2_000_000)))
    with pytest.raises(BadBot, match="more than 1100000 bytes, unpacked"):
        take_in(bomb, tmp_path / "versions", limits=limits)
    bomb.write_bytes(gzip.compress(entry("bot").tobuf() + bytes(1024)) * 2)
    with pytest.raises(BadBot, match="something follows"):
        take_in(bomb, tmp_path / "versions")
    bomb.write_bytes(gzip.compress(b"no archive"))
    with pytest.raises(BadBot, match="is a damaged archive"):
        take_in(bomb, tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())


def test_an_archive_with_too_many_folders_is_refused(tmp_path: Path) -> None:
    folders = [entry(f"f{number}", type=tarfile.DIRTYPE) for number in range(60)]
    folder = bot_folder(tmp_path / "bot")
    for number in range(60):
        (folder / f"f{number}").mkdir()
    for path in (folder, tarred(tmp_path / "bot.tgz", [entry("bot"), *folders])):
        with pytest.raises(BadBot, match="more than 50 files, links and folders"):
            take_in(path, tmp_path / "versions", limits=BotLimits(entries=50))


def test_folders_that_an_archive_does_not_list_count_like_those_of_a_folder(tmp_path: Path) -> None:
    """A file of no bytes at the end of a long path makes as many folders as the path has names."""
    names = ["bot", "/".join(["a"] * 30 + ["data"]), "/".join(["a"] * 10 + ["b"] * 20 + ["data"])]  # and 50 folders
    folder = bot_folder(tmp_path / "bot")
    for name in names[1:]:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(PROGRAM)
    unlisted = zipped(tmp_path / "bot.zip", dict.fromkeys(names, PROGRAM.encode()))
    shutil.make_archive(str(tmp_path / "listed"), "zip", folder)  # with an entry for each folder
    shutil.make_archive(str(tmp_path / "listed"), "tar", folder)
    tar = tarred(tmp_path / "bot.tgz", [entry(name) for name in names])
    submissions = (folder, unlisted, tar, tmp_path / "listed.zip", tmp_path / "listed.tar")
    for path in submissions:
        with pytest.raises(BadBot, match=r"^more than 52 files, links and folders$"):
            take_in(path, tmp_path / "versions", limits=BotLimits(entries=52))
    assert not list((tmp_path / "versions").iterdir())
    for path in submissions:
        take_in(path, tmp_path / "versions", limits=BotLimits(entries=54))  # a tar lists the bot's folder, too


def test_names_of_any_length_that_tar_writes_are_taken_in(tmp_path: Path) -> None:
    long = "/".join(["x" * 80] * 5) + "/data"
    hashes = set()
    for number, form in enumerate((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)):
        with tarfile.open(tmp_path / f"{number}.tar", "w", format=form) as archive:
            for name in ("bot", long):
                info = entry(name)
                info.size = len(PROGRAM)
                archive.addfile(info, io.BytesIO(PROGRAM.encode()))
        artefact = take_in(tmp_path / f"{number}.tar", tmp_path / "versions")
        assert (tmp_path / "versions" / artefact.content_hash / long).is_file()
        hashes.add(artefact.content_hash)
    assert len(hashes) == 1


def test_a_zip_with_a_comment_is_taken_in_and_one_that_is_compressed_in_an_unusual_way_is_not(tmp_path: Path) -> None:
    with zipfile.ZipFile(zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode()}), "a") as archive:
        archive.comment = b"x" * 60_000
    assert take_in(tmp_path / "bot.zip", tmp_path / "versions").run == ("./bot",)
    with zipfile.ZipFile(tmp_path / "lzma.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bot", PROGRAM)
    with pytest.raises(BadBot, match="compressed in an unusual way"):
        take_in(tmp_path / "lzma.zip", tmp_path / "versions")


def test_folders_in_each_other_are_refused_when_they_are_too_deep_and_nothing_is_left(tmp_path: Path) -> None:
    deep = "a/" * 1_200 + "x"
    folder = bot_folder(tmp_path / "bot")
    here = folder
    for _ in range(files.MAX_DEPTH):
        here /= "a"
        here.mkdir()
    for path in (
        folder,
        tarred(tmp_path / "bot.tgz", [entry("bot"), entry(deep)]),
        zipped(tmp_path / "bot.zip", {"bot": b"", deep: b""}),
    ):
        (here / "x").write_text("")
        with pytest.raises(BadBot, match=f"more than {files.MAX_DEPTH} nested folders"):
            submit(Home(tmp_path / "home"), path, "mybot", "me")
        assert not (tmp_path / "home").exists()
    (here / "x").unlink()
    assert take_in(folder, tmp_path / "versions").run == ("./bot",)


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


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    folder = bot_folder(tmp_path / "bot")
    (folder / "data").mkdir()
    thing = folder / "data" / "thing"
    if kind.startswith("pipe"):
        os.mkfifo(thing)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("bot/data/thing")
    with pytest.raises(BadBot, match=r"data/thing; .* not taken in"):
        take_in(folder, tmp_path / "versions")
    assert not list((tmp_path / "versions").iterdir())
    with pytest.raises(BadBot, match="is neither a file nor a folder"):
        take_in(thing, tmp_path / "versions")


def test_a_path_that_is_a_link_is_refused(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "bot")
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "program").symlink_to(folder / "bot")
    for name in ("link", "program"):
        with pytest.raises(BadBot, match="is a link; name the file or folder that it leads to"):
            submit(Home(tmp_path / "home"), tmp_path / name, "mybot", "me")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("house", "me"), ("House", "me"), ("GREEDY", "me"), ("random", "me"), ("mybot", "house"), ("mybot", "HOUSE"),
        ("greedy.", "me"), ("g-r.e_edy", "me"), ("greedy-v1", "me"), ("Greedy_V12", "me"), ("greedyv2", "me"),
        ("greedy-vl", "me"), ("gr33dy", "me"), ("9reedy", "me"), ("rand0m", "me"), ("randorn", "me"), ("ranclom", "me"),
        ("h0u5e", "me"), ("mybot", "organ1ser"), ("mybot", "0rganlser."), ("mybot", "house-v2"),
    ],
)  # fmt: skip
def test_names_that_could_be_mistaken_for_the_house_are_refused(tmp_path: Path, name: str, author: str) -> None:
    with pytest.raises(LadderError, match="are reserved"):
        submit(Home(tmp_path / "home"), bot_folder(tmp_path / "bot"), name, author)
    assert not (tmp_path / "home").exists()


def test_a_name_that_differs_from_another_bots_in_capitals_alone_is_refused(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), bot_folder(tmp_path / "bot")
    submit(home, folder, "Deep.Bot", "me")
    for author in ("me", "eve"):
        with pytest.raises(LadderError, match=r"there is a bot Deep\.Bot already"):
            submit(home, folder, "deep.bot", author)
    submit(home, folder, "Deep.Bot", "me")
    submit(home, folder, "deep-bot", "me")  # her own are her affair


@pytest.mark.parametrize("name", ["v1", "V2", "v01", "v1."])
def test_a_name_that_reads_like_a_version_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        LadderError, match=f"a bot cannot be called {re.escape(name)}, which reads like the version"
    ) as caught:
        submit(Home(tmp_path / "home"), bot_folder(tmp_path / "bot"), name, "me")
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "name",
    [
        "champi0n", "cham.pion", "champion.", "Champion-", "champion-v1", "champion_v3", "championv2", "CHAMPION-V1",
        "charnpion", "champlon", "champ1on", "champion-vl", "charnpi0n.v2",
    ],
)  # fmt: skip
def test_a_bot_that_could_be_taken_for_that_of_another_author_is_refused(tmp_path: Path, name: str) -> None:
    home, folder = Home(tmp_path / "home"), bot_folder(tmp_path / "bot")
    submit(home, folder, "champion", "ann")
    with pytest.raises(LadderError, match=f"{re.escape(name)} could be taken for champion, a bot of ann") as caught:
        submit(home, folder, name, "eve")
    assert len(str(caught.value).splitlines()) == 1
    submit(home, folder, name, "ann")  # her own are her affair
    with pytest.raises(LadderError, match="could be taken for champion"):
        submit(home, folder, f"{name}_", "eve")


@pytest.mark.parametrize(
    "name", ["champ", "champions", "champion2", "v1per", "dev1", "val", "evil", "rev0lver", "bot1", "bot11"]
)
def test_names_that_are_only_similar_are_allowed(tmp_path: Path, name: str) -> None:
    home, folder = Home(tmp_path / "home"), bot_folder(tmp_path / "bot")
    for other, author in {"champion": "ann", "bot2": "bob", "v2per": "cat", "bot6": "dan", "bot8": "fay"}.items():
        submit(home, folder, other, author)
    assert submit(home, folder, name, "eve")[1]


@pytest.mark.parametrize("author", ["ann.1ee", "annlee", "Ann.Lee", "ann-lee-v2"])
def test_an_author_who_could_be_taken_for_another_is_refused(tmp_path: Path, author: str) -> None:
    home, folder = Home(tmp_path / "home"), bot_folder(tmp_path / "bot")
    submit(home, folder, "mybot", "ann.lee")
    with pytest.raises(LadderError, match=f"author {author} could be taken for ann.lee, who has bots here"):
        submit(home, folder, "another", author)
    with Authors(home.database, create=False) as authors:
        authors.add("ann.lee")
        with pytest.raises(LadderError, match=r"author ann\.lee|the author ann\.lee|an author ann\.lee"):
            authors.add(author)
        authors.add("bob")
    submit(home, folder, "another", "bob")


def test_numbers_are_never_taken_for_one_another() -> None:
    """All numbers of three digits have other skeletons."""
    assert len({skeleton(f"bot{number:03}") for number in range(1000)}) == 1000


@pytest.mark.parametrize("name", ["../../[red]x\n y", "me\x1b[2J", "", "x" * 41, "-x", "ü", "a b"])
def test_names_that_are_not_plain_are_refused_whoever_calls(tmp_path: Path, name: str) -> None:
    for bot, author in ((name, "me"), ("mybot", name)):
        with pytest.raises(LadderError, match="must be 1 to 40 letters"):
            submit(Home(tmp_path / "home"), bot_folder(tmp_path / f"bot{bot == name}"), bot, author)


def test_a_name_in_a_zip_with_a_nul_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode(), "helper?.py": b""})
    archive.write_bytes(archive.read_bytes().replace(b"helper?.py", b"helper\0.py"))
    with pytest.raises(BadBot, match="cannot be printed"):
        take_in(archive, tmp_path / "versions")


def test_what_declares_too_much_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    size = 300 * 1024 * 1024
    with bot_folder(tmp_path / "bot").joinpath("weights").open("wb") as file:
        file.truncate(size)
    (tmp_path / "bot" / "weights").rename(tmp_path / "weights.py")
    archive = zipped(tmp_path / "bot.zip", {"bot": PROGRAM.encode(), "weights": b"x"})
    data = bytearray(archive.read_bytes())
    place = data.rindex(b"PK\1\2") + 24  # the uncompressed size in the central directory
    data[place : place + 4] = size.to_bytes(4, "little")
    archive.write_bytes(bytes(data))
    head = entry("weights")
    head.size = size
    (tmp_path / "bot.tar").write_bytes(head.tobuf() + bytes(512) * 2)
    (tmp_path / "bot" / "weights").hardlink_to(tmp_path / "weights.py")

    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, usual[1]))  # whoever wrote it first would be told of this
    try:
        for name in ("weights.py", "bot", "bot.zip", "bot.tar"):
            with pytest.raises(BadBot, match=r"more than (209715200 bytes|200 MiB)"):
                take_in(tmp_path / name, tmp_path / "versions")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    many = bot_folder(tmp_path / "many")
    for number in range(4):
        (many / str(number)).write_text("")
    for path in (many, zipped(tmp_path / "many.zip", {str(number): b"" for number in range(4)})):
        with pytest.raises(BadBot, match="more than 3 files"):
            take_in(path, tmp_path / "versions", limits=BotLimits(files=3))


def test_versions_are_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        folder = bot_folder(tmp_path / "bot")
        (folder / "data").mkdir()
        (folder / "data" / "notes").write_text("x")
        submit(Home(tmp_path / "home"), folder, "mybot", "me")
    finally:
        os.umask(umask)
    versions = tmp_path / "home" / "versions"
    inside = [path for path in versions.rglob("*") if path.parent != versions]
    found = {tmp_path / "home", *(tmp_path / "home").rglob("*")} - {*inside, *versions.iterdir()}
    assert versions in found
    assert len(inside) >= 3
    assert [path for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []
    assert [path for path in inside if stat.S_IMODE(path.lstat().st_mode) & 0o222] == []


def version(content_hash: str) -> Version:
    return Version(1, "mybot", "me", 1, content_hash, ("./bot",), ("cargo_noir",), None)


def link_to_the_same(folder: Path) -> None:
    (folder / "bot").rename(folder.parent / "moved")
    (folder / "bot").symlink_to("../moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda folder: (folder / "bot").write_text("#!/bin/sh\nexit 1\n"),
    "mode": lambda folder: (folder / "bot").chmod(0o644),
    "another file": lambda folder: (folder / "more").write_text(""),
    "a link": lambda folder: (folder / "more").symlink_to("/bin/sh"),
    "a link to the same": link_to_the_same,
    "a pipe": lambda folder: os.mkfifo(folder / "more"),
    "no file": lambda folder: (folder / "bot").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_version_is_noticed_and_restored_by_submitting_it_again(tmp_path: Path, change: str) -> None:
    source = bot_folder(tmp_path / "bot")
    artefact = take_in(source, tmp_path / "versions")
    folder = tmp_path / "versions" / artefact.content_hash
    inspector = Inspector(tmp_path / "versions")
    inspector.check(version(artefact.content_hash))
    folder.chmod(0o700)
    (folder / "bot").chmod(0o700)
    CHANGES[change](folder)
    with pytest.raises(
        CannotPlay,
        match=r"^the files of mybot v1 are not those that were submitted .*; submit the same again to restore them$",
    ):
        inspector.check(version(artefact.content_hash))
    assert take_in(source, tmp_path / "versions") == artefact
    inspector.check(version(artefact.content_hash))
    assert hash_of(folder) == artefact.content_hash


def test_a_change_is_noticed_though_size_and_time_are_put_back(tmp_path: Path) -> None:
    artefact = take_in(bot_folder(tmp_path / "bot"), tmp_path / "versions")
    program = tmp_path / "versions" / artefact.content_hash / "bot"
    inspector = Inspector(tmp_path / "versions")
    inspector.check(version(artefact.content_hash))
    before = program.stat()
    program.chmod(0o700)
    program.write_text(PROGRAM.replace("0", "1"))
    program.chmod(stat.S_IMODE(before.st_mode))
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (program.stat().st_size, program.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(CannotPlay, match="are not those that were submitted"):
        inspector.check(version(artefact.content_hash))


def test_a_version_is_read_again_only_if_something_about_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artefact = take_in(bot_folder(tmp_path / "bot"), tmp_path / "versions")
    inspector = Inspector(tmp_path / "versions")
    read: list[Path] = []

    def noted(folder: Path) -> str:
        read.append(folder)
        return hash_of(folder)

    monkeypatch.setattr(submission, "hash_of", noted)
    for _ in range(3):
        inspector.check(version(artefact.content_hash))
    assert len(read) == 1
    (tmp_path / "versions" / artefact.content_hash / "bot").touch()
    inspector.check(version(artefact.content_hash))
    assert len(read) == 2
    with pytest.raises(CannotPlay, match="are gone from"):
        inspector.check(version("0" * 64))
    inspector.check(version("house:random:1.0"))
