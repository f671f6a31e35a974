import os
from pathlib import Path

from host.folder_snapshot import produced_between, take_snapshot


def changes(before, after) -> dict[str, str]:
    return {file.path: file.change for file in produced_between(before, after)}


def test_created_modified_and_deleted_files_are_told_apart(tmp_path: Path) -> None:
    for name in ("kept", "changed", "gone"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    before = take_snapshot(tmp_path)
    (tmp_path / "changed").write_text("longer", encoding="utf-8")
    (tmp_path / "gone").unlink()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "new").write_text("abc", encoding="utf-8")
    files = produced_between(before, take_snapshot(tmp_path))
    assert [(f.path, f.change, f.size_bytes) for f in files] == [
        ("changed", "modified", 6),
        ("gone", "deleted", 0),
        ("sub/new", "created", 3),
    ]


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_modified(tmp_path: Path) -> None:
    target, other = tmp_path / "a", tmp_path / "b"
    for path in (target, other):
        path.write_text("x", encoding="utf-8")
        os.utime(path, ns=(1, 1))
    before = take_snapshot(tmp_path)
    other.replace(target)
    assert changes(before, take_snapshot(tmp_path)) == {"a": "modified", "b": "deleted"}


def test_repositories_and_generated_trees_are_left_out_and_results_in_them_are_not(tmp_path: Path) -> None:
    for path in (
        ".git/HEAD",
        "node_modules/x",
        "tools/pyvenv.cfg",
        "tools/lib/a.py",
        "tools/out.txt",
        "CMakeFiles/rules.ninja",
        "build.ninja",
        "hello",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    assert set(take_snapshot(tmp_path).files) == {"hello", "tools/out.txt"}


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    assert set(take_snapshot(tmp_path).files) == {"loop"}


def test_depth_and_number_of_entries_are_bounded(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    for folder in (tmp_path, deep.parent, deep):
        (folder / "file").write_text("", encoding="utf-8")
    assert set(take_snapshot(tmp_path, max_depth=2).files) == {"file", "a/b/file"}
    partial = take_snapshot(tmp_path, max_entries=3)
    assert partial.is_partial
    assert set(partial.files) == {"file"}


def test_a_limit_is_not_reported_as_a_change(tmp_path: Path) -> None:
    for number in range(6):
        path = tmp_path / f"m{number}"
        path.write_text("", encoding="utf-8")
    before = take_snapshot(tmp_path, max_entries=6)
    full = take_snapshot(tmp_path, max_entries=4)
    assert full.is_partial
    assert changes(before, full) == {}
    (tmp_path / "m0").unlink()
    assert changes(before, take_snapshot(tmp_path, max_entries=4)) == {"m0": "deleted"}


def test_a_name_that_is_no_utf8_and_a_long_one_fit_the_contract(tmp_path: Path) -> None:
    before = take_snapshot(tmp_path)
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("", encoding="utf-8")
    nested = tmp_path / ("d" * 200)
    nested.mkdir()
    (nested / ("f" * 200)).write_text("", encoding="utf-8")
    paths = [f.path for f in produced_between(before, take_snapshot(tmp_path))]
    assert paths[0] == "caf\N{REPLACEMENT CHARACTER}"
    assert len(paths[1]) == 240


def test_at_most_a_hundred_files_are_named(tmp_path: Path) -> None:
    before = take_snapshot(tmp_path)
    for number in range(120):
        (tmp_path / f"{number:03}").write_text("", encoding="utf-8")
    assert len(produced_between(before, take_snapshot(tmp_path))) == 100


def test_a_folder_that_is_gone_is_empty(tmp_path: Path) -> None:
    assert take_snapshot(tmp_path / "nowhere").files == {}
