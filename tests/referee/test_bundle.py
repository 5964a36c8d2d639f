"""A folder with bots that goes to other machines: what goes along, what stays, and how much is too much."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from referee.live.matches.bundle import MAX_BYTES, BadBundle, pack, unpack


def folder(path: Path) -> Path:
    (path / "lib").mkdir(parents=True)
    (path / "lib" / "data").write_bytes(b"\0data")
    (path / "bot").write_text("#!/bin/sh\n")
    (path / "bot").chmod(0o700)
    (path / "secret").write_text("mine alone")
    (path / "secret").chmod(0o600)
    (path / "to data").symlink_to("lib/data")
    os.link(path / "lib" / "data", path / "data again")
    (path / "empty").mkdir(mode=0o700)
    return path


def test_a_folder_arrives_with_its_files_links_and_programs(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    found = unpack(pack(folder(tmp_path / "here")), tmp_path / "there")
    assert (found / "lib" / "data").read_bytes() == (found / "data again").read_bytes() == b"\0data"
    assert (found / "to data").readlink() == Path("lib/data")
    assert (found / "empty").is_dir()
    modes = {path.name: path.lstat().st_mode & 0o777 for path in found.rglob("*") if not path.is_symlink()}
    assert modes == {"lib": 0o755, "data": 0o644, "bot": 0o755, "secret": 0o644, "data again": 0o644, "empty": 0o755}


def test_equal_folders_are_one_there(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    one, other = pack(folder(tmp_path / "one")), pack(folder(tmp_path / "other"))
    assert one == other
    assert unpack(one, tmp_path / "there") == unpack(other, tmp_path / "there")
    assert len(list((tmp_path / "there").iterdir())) == 1


def test_records_and_what_is_no_file_stay_at_home(tmp_path: Path) -> None:
    here = folder(tmp_path / "here")
    before = pack(here)
    (here / "records").mkdir()
    (here / "records" / "match.jsonl").write_text("{}")
    os.mkfifo(here / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(here / "socket"))
        assert pack(here, without=[here / "records"]) == before


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    here = tmp_path / "here"
    for number in range(3):
        (here / str(number)).mkdir(parents=True)
        (here / str(number) / "file").touch()
    assert pack(here, max_entries=6)
    with pytest.raises(BadBundle, match=r"more than 5 files.* give the command in a folder that has the bots alone"):
        pack(here, max_entries=5)


def test_files_that_are_too_large_are_refused(tmp_path: Path) -> None:
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", MAX_BYTES + 1)
    with pytest.raises(BadBundle, match="or 64 MiB, which is too much to send"):
        pack(tmp_path)


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret", "lib/../../secret"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text("secret")
    here = folder(tmp_path / "here")
    (here / "out").symlink_to(target)
    with pytest.raises(BadBundle, match="out is a link that leads out of"):
        pack(here)


def test_links_in_a_circle_and_to_nothing_go_along(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    here = folder(tmp_path / "here")
    (here / "circle").symlink_to("circle")
    (here / "around").symlink_to(".")
    (here / "nothing").symlink_to("missing")
    found = unpack(pack(here), tmp_path / "there")
    assert {name: str((found / name).readlink()) for name in ("circle", "around", "nothing")} == {
        "circle": "circle",
        "around": ".",
        "nothing": "missing",
    }


def test_what_is_no_archive_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadBundle, match="cannot be unpacked there"):
        unpack(b"nothing", tmp_path)
