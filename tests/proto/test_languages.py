"""The compilers of other languages refuse what they should (`proto/languages.py`; `make languages` runs them on all messages)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FINE = 'syntax = "proto3"; package dogana.v9; message Thing { optional uint32 x = 1; repeated uint32 many = 2; }'


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "collides", "complaint"),
    [
        ("C++", "bool has_x = 3;", "has_x"),
        ("Java", "oneof y { uint32 z = 3; } uint32 y_case = 4;", "getYCase"),
    ],
)
def test_a_name_that_collides_does_not_compile(
    languages: ModuleType, tmp_path: Path, language: str, collides: str, complaint: str
) -> None:
    if command := languages.missing(language):
        pytest.skip(f"tools for {language} are missing; Debian: {command}")
    compile_all = {"C++": languages.compile_cpp, "Java": languages.compile_java}[language]
    file = tmp_path / "dogana" / "v9" / "thing.proto"
    file.parent.mkdir(parents=True)
    file.write_text(FINE)
    compile_all(tmp_path)
    file.write_text(FINE.replace(" }", f" {collides} }}"))
    with pytest.raises(languages.LanguageError, match=complaint):
        compile_all(tmp_path)


def test_missing_tools_are_named_with_the_command_that_installs_them(
    languages: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["languages.py"])
    with pytest.raises(SystemExit, match="0"):
        languages.main()
    printed = capsys.readouterr().out
    assert "C++: skipped, tools are missing; Debian: apt-get install protobuf-compiler g++" in printed
    assert "Go: skipped, tools are missing; Debian: apt-get install golang-go" in printed
    monkeypatch.setattr(sys, "argv", ["languages.py", "--all"])
    with pytest.raises(SystemExit, match="1"):
        languages.main()
