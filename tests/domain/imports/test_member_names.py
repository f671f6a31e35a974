"""How names in archives are read, and that honest names of many scripts are taken."""

import pytest

from domain.imports.archive_problems import ArchiveRefused
from domain.imports.member_names import MemberName, NameTable, member_name


def read(raw: bytes, *, utf8: bool = False, unicode_path: bytes | None = None) -> MemberName:
    return member_name(raw, utf8=utf8, unicode_path=unicode_path, most_depth=16)


def test_a_name_without_its_mark_is_read_as_utf8_where_it_is_utf8() -> None:
    found = read("Menü.md".encode())
    assert (found.path, found.guessed) == ("Menü.md", True)
    assert not read(b"menu.md").guessed
    assert not read("Menü.md".encode(), utf8=True).guessed


def test_a_name_without_its_mark_that_is_no_utf8_is_of_code_page_437() -> None:
    found = read(b"Men\x81.md")
    assert (found.path, found.guessed) == ("Menü.md", True)


def test_the_second_name_of_info_zip_counts() -> None:
    assert read(b"Men?.md", unicode_path="Menü.md".encode()).path == "Menü.md"


def test_names_that_macos_takes_apart_are_put_together() -> None:
    assert read("Menu\u0308.md".encode(), utf8=True).path == "Menü.md"


def test_a_leading_dot_and_the_slash_of_a_folder_are_no_part_of_the_path() -> None:
    assert read(b"./SKILL.md").path == "SKILL.md"
    assert (read(b"scripts/").path, read(b"scripts/").folder) == ("scripts", True)


@pytest.mark.parametrize(
    "name",
    [
        "SKILL.md", "references/guide (v2).md", "assets/日本語.png", "docs/Привет.md", "a/αβγ.txt", "🚀.md",
        "scripts/run.test.py", ".env.example", "common/conf.md", "console.md", "a/b/c/d/e/f/g.xsd", "naïve-ß.md",
        "#1 [draft] & more's.md", "العربية.md",
    ],
)  # fmt: skip
def test_honest_names_are_taken(name: str) -> None:
    assert read(name.encode(), utf8=True).path == name


def test_names_of_one_script_do_not_collide() -> None:
    table = NameTable()
    for name in ("отчёт.md", "отчет.md", "note.md", "notes.md", "docs/", "docs/a.md", "docs/b.md"):
        table.take(read(name.encode(), utf8=True))
    with pytest.raises(ArchiveRefused):
        table.take(read(b"Docs/c.md"))
