"""The state of files: content in figures, permissions, links and tables."""

import hashlib
from pathlib import Path

import pytest

from host.witness.bounded_folder import Limits
from tests.host.witness.folders import facts_of


def test_a_text_has_its_size_digest_lines_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo\nthree", encoding="utf-8")
    path.chmod(0o640)
    assert facts_of(tmp_path, "notes.txt") == {
        "kind": "file",
        "permissions": "640",
        "size": 13,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "content": "text",
        "lines": 3,
        "encoding": "ASCII",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", {"content": None, "lines": None}),
        ("größer\n".encode(), {"content": "text", "encoding": "UTF-8", "lines": 1}),
        ("größer\n".encode("latin-1"), {"content": "text", "encoding": "other"}),
        (b"a\0b", {"content": "binary", "lines": None}),
        (b"one\r\ntwo\r\n", {"line ends": "CRLF", "lines": 2}),
        (b"one\r\ntwo\n", {"line ends": None}),
        (b"x" * (1024 * 1024 - 1) + b"\r\n", {"line ends": "CRLF", "lines": 1}),
        (b"x" * (1024 * 1024 - 1) + "ä\n".encode(), {"encoding": "UTF-8"}),
        ("ä".encode()[:1], {"encoding": "other"}),
    ],
)
def test_the_content_of_a_file_is_known_by_kind_encoding_and_line_ends(
    tmp_path: Path, content: bytes, expected: dict[str, object]
) -> None:
    (tmp_path / "a").write_bytes(content)
    facts = facts_of(tmp_path, "a")
    assert {aspect: facts.get(aspect) for aspect in expected} == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "name,amount\nAnn,3\nBob,4\n", {"header": "name,amount", "rows": 2, "columns": 2}),
        ("a.csv", '"a, b",c\n"x\ny",1\n', {"header": "a, b,c", "rows": 1, "columns": 2}),
        ("a.csv", "1,2,3\n4,5,6\n", {"header": None, "rows": 2, "columns": 3}),
        ("a.csv", "a;b\n1;2\n", {"header": "a;b", "rows": 1, "columns": 2}),
        ("a.tsv", "a\tb\n1\t2\n\n", {"rows": 1, "columns": 2}),
        ("a.csv", "a,b\n1,2,3\n", {"columns": "2 to 3"}),
        ("a.csv", "\ufeffa,b\n1,2\n", {"header": "a,b"}),
        ("a.csv", 'a,"open\n' * 3, {"rows": 1}),
        ("a.csv", 'a,"' + "x" * 200_000, {"rows": "not readable as delimited text"}),
        ("a.txt", "a,b\n1,2\n", {"rows": None}),
    ],
)
def test_delimited_text_has_a_header_rows_and_columns(
    tmp_path: Path, name: str, text: str, expected: dict[str, object]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    facts = facts_of(tmp_path, name)
    assert {aspect: facts.get(aspect) for aspect in expected} == expected


def test_a_program_is_executable_and_a_folder_has_permissions(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "private").mkdir(mode=0o700)
    assert facts_of(tmp_path, "run.sh")["executable"] is True
    assert facts_of(tmp_path, "private") == {"kind": "folder", "permissions": "700"}


def test_the_content_of_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    facts = facts_of(tmp_path, "large", Limits(file_bytes=1000))
    assert facts == {"kind": "file", "permissions": facts["permissions"], "size": 1 << 40}


def test_generated_folders_are_named_and_not_looked_into(tmp_path: Path) -> None:
    for name in ("node_modules", "__pycache__", ".git"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inner").write_text("x", encoding="utf-8")
    assert facts_of(tmp_path, "node_modules")["kind"] == "folder"
    assert facts_of(tmp_path, "node_modules/inner") == {}
    assert facts_of(tmp_path, ".git/inner") == {}
