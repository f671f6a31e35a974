"""The state of git repositories, read without git; everything is compared with what the real git says."""

import hashlib
import os
import struct
import zlib
from pathlib import Path

import pytest

from host.witness.bounded_folder import BoundedFolder, Limits
from host.witness.git_objects import GitObjects, UnreadableObject
from host.witness.witness import observe_all
from tests.host.witness.folders import commit, facts_of, git, repository


def test_a_repository_has_its_branches_tags_and_history(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "tag", "v1.0")
    git(repo, "checkout", "-q", "-b", "feature/x")
    commit(repo, "b.txt", "two\n", "Second")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge feature", "feature/x")
    git(repo, "tag", "-a", "v1.2", "-m", "Release 1.2")
    assert facts_of(repo, "git") == {
        "repository": "there",
        "current branch": "main",
        "under way": "nothing",
        "branch main": "there",
        "branch feature/x": "there",
        "commit of branch main": git(repo, "rev-parse", "main"),
        "commit of branch feature/x": git(repo, "rev-parse", "feature/x"),
        "tag v1.0": "lightweight",
        "commit of tag v1.0": git(repo, "rev-parse", "v1.0"),
        "tag v1.2": "annotated",
        "commit of tag v1.2": git(repo, "rev-parse", "v1.2^{commit}"),
        "message of tag v1.2": "Release 1.2",
        "commits": 3,
        "merge commits": 1,
        "last message": "Merge feature",
        "tracked files": 2,
        "conflicts": 0,
        "uncommitted changes": 0,
    }


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)], ids=["sha1", "sha256"])
def test_packed_objects_refs_and_deltas_are_read_as_loose_ones(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    repo = repository(tmp_path / "repo", *options)
    text = "".join(f"line {n} {hashlib.md5(b'%d' % n).hexdigest()}\n" for n in range(400))
    for number in range(12):
        commit(repo, "data/long.txt", text + f"{number}\n" * number, f"Change {number}")
    git(repo, "tag", "-a", "v2", "-m", "Two")
    loose = facts_of(repo, "git")
    git(repo, "gc", "-q", "--aggressive")
    assert not (repo / ".git/refs/heads/main").exists()
    packed = facts_of(repo, "git")
    assert packed == loose
    assert packed["commits"] == int(git(repo, "rev-list", "--count", "HEAD"))
    ids = [line.split()[0] for line in git(repo, "rev-list", "--objects", "--all").splitlines()]
    with BoundedFolder(repo) as folder:
        objects = GitObjects(folder, ".git", len(ids[0]) // 2)
        digest = hashlib.sha1 if len(ids[0]) == 40 else hashlib.sha256
        for object_id in ids:
            found = objects.read(object_id)
            header = f"{found.kind} {len(found.content)}\0".encode()
            assert digest(header + found.content).hexdigest() == object_id


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_read(tmp_path: Path, version: str) -> None:
    repo = repository(tmp_path / "repo")
    for name in ("dir/one.txt", "dir/two.txt", "ä.txt"):
        commit(repo, name, name, name)
    (repo / "new.txt").write_text("new", encoding="utf-8")
    git(repo, "add", "-N", "new.txt")
    git(repo, "update-index", f"--index-version={version}")
    facts = facts_of(repo, "git")
    assert (facts["tracked files"], facts["uncommitted changes"]) == (5, 1)


@pytest.mark.parametrize(
    ("change", "count"),
    [
        (lambda repo: (repo / "a.txt").write_text("changed\n"), 1),
        (lambda repo: (repo / "a.txt").write_text("two\n"), 1),
        (lambda repo: (repo / "a.txt").unlink(), 1),
        (lambda repo: (repo / "a.txt").chmod(0o755), 1),
        (lambda repo: git(repo, "rm", "-q", "--cached", "a.txt"), 1),
        (lambda repo: ((repo / "n").write_text("n"), git(repo, "add", "n")), 1),
        (lambda repo: (repo / "untracked").write_text("n"), 0),
        (lambda repo: os.utime(repo / "a.txt", (1, 1)), 0),
        (lambda repo: (repo / "a.txt").write_bytes(b"one\r\n"), 0),
        (lambda repo: ((repo / "a.txt").unlink(), (repo / "a.txt").symlink_to("/etc/passwd")), 1),
    ],
)
def test_changes_of_tracked_files_are_counted(tmp_path: Path, change, count: int) -> None:
    repo = repository(tmp_path / "repo")
    change(repo)
    assert facts_of(repo, "git")["uncommitted changes"] == count


def test_a_committed_link_is_clean_until_it_points_elsewhere(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "link").symlink_to("a.txt")
    git(repo, "add", "link")
    git(repo, "commit", "-q", "-m", "Link")
    assert facts_of(repo, "git")["uncommitted changes"] == 0
    (repo / "link").unlink()
    (repo / "link").symlink_to("b.txt")
    assert facts_of(repo, "git")["uncommitted changes"] == 1


def test_a_merge_with_a_conflict_is_under_way(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "other")
    commit(repo, "a.txt", "theirs\n", "Theirs")
    git(repo, "checkout", "-q", "main")
    commit(repo, "a.txt", "ours\n", "Ours")
    git(repo, "merge", "other", may_fail=True)
    facts = facts_of(repo, "git")
    assert (facts["under way"], facts["conflicts"], facts["uncommitted changes"]) == ("merge", 1, 1)


def test_a_detached_head_an_empty_repository_and_a_shallow_clone_are_told(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    commit(repo, "b.txt", "b", "Second")
    git(repo, "clone", "-q", "--depth=1", f"file://{repo}", str(tmp_path / "shallow"))
    assert facts_of(tmp_path / "shallow", "git")["commits"] == 1
    git(repo, "checkout", "-q", "--detach", "HEAD~1")
    assert facts_of(repo, "git")["current branch"] == "none (detached)"
    assert facts_of(repo, "git")["commits"] == 1
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q", "-b", "main")
    assert facts_of(empty, "git") == {
        "repository": "there",
        "current branch": "main",
        "under way": "nothing",
        "commits": 0,
        "tracked files": 0,
        "conflicts": 0,
        "uncommitted changes": 0,
    }


def test_repositories_below_and_bare_ones_have_subjects_of_their_own(tmp_path: Path) -> None:
    repository(tmp_path / "inner")
    git(tmp_path, "clone", "-q", "--bare", "inner", "bare.git")
    assert facts_of(tmp_path, "git in inner")["commits"] == 1
    assert facts_of(tmp_path, "git in bare.git")["commits"] == 1
    assert "uncommitted changes" not in facts_of(tmp_path, "git in bare.git")
    assert facts_of(tmp_path / "bare.git", "git")["branch main"] == "there"


def test_a_worktree_and_a_linked_git_folder_are_not_followed(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(repo / ".git")
    for folder in (tmp_path / "tree", linked):
        assert facts_of(folder, "git") == {"repository": "kept elsewhere"}


def test_nothing_that_a_repository_configures_is_run_or_followed(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    mark = tmp_path / "mark"
    outside = repository(tmp_path / "outside")
    commit(outside, "secret.txt", "s", "Outside")
    (repo / ".git/config").write_text(
        f'[core]\n\tfsmonitor = "touch {mark}"\n\tworktree = {outside}\n\thooksPath = {tmp_path}\n'
        f'[filter "x"]\n\tclean = touch {mark}\n\tsmudge = touch {mark}\n\tprocess = touch {mark}\n'
        f"[include]\n\tpath = {outside}/.git/config\n[extensions]\n\tpartialClone = origin\n\x00\xff[[[",
        encoding="latin-1",
    )
    (repo / ".gitattributes").write_text("* filter=x diff=x\n", encoding="utf-8")
    (repo / ".git/hooks/post-index-change").write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    (repo / ".git/hooks/post-index-change").chmod(0o755)
    (repo / ".git/objects/info/alternates").write_text(f"{outside}/.git/objects\n", encoding="utf-8")
    (repo / ".git/commondir").write_text(f"{outside}/.git\n", encoding="utf-8")
    os.utime(repo / "a.txt", (1, 1))
    facts = facts_of(repo, "git")
    assert (facts["commits"], facts["uncommitted changes"], facts["last message"]) == (1, 0, "First")
    assert not mark.exists()


def test_refs_that_lead_out_of_the_repository_are_none(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    outside = tmp_path / "outside"
    outside.write_text("a" * 40, encoding="utf-8")
    (repo / ".git/refs/heads/linked").symlink_to(outside)
    (repo / ".git/refs/heads/broken").write_text("no id", encoding="utf-8")
    (repo / ".git/refs/tags/folder").symlink_to(tmp_path)
    (repo / ".git/HEAD").write_text("ref: refs/../../../outside\n", encoding="utf-8")
    facts = facts_of(repo, "git")
    assert {aspect for aspect in facts if aspect.startswith(("branch", "tag"))} == {"branch main"}
    assert facts["commits"] == 0


def _loose(repo: Path, content: bytes, object_id: str = "b" * 40) -> str:
    path = repo / ".git/objects" / object_id[:2] / object_id[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(content, 9))
    return object_id


@pytest.mark.parametrize(
    "content",
    [
        b"blob 100000000\0" + b"\0" * 40_000_000,
        b"commit 5\0tree ",
        b"commit 300\0" + b"parent x" * 3,
        b"\0" * 100,
        b"tree 6\0100644",
        b"",
    ],
    ids=["bomb", "cut", "wrong length", "no header", "tree", "empty"],
)
def test_an_object_that_is_not_what_it_claims_is_not_readable(tmp_path: Path, content: bytes) -> None:
    repo = repository(tmp_path / "repo")
    (repo / ".git/refs/heads/main").write_text(_loose(repo, content), encoding="utf-8")
    facts = facts_of(repo, "git")
    assert "not readable" in facts
    assert "commits" not in facts


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"DIRC",
        b"DIRC" + struct.pack(">2I", 2, 0xFFFFFFFF),
        b"DIRC" + struct.pack(">2I", 2, 3) + b"\0" * 80,
        b"DIRC" + struct.pack(">2I", 4, 5) + b"\xff" * 500,
        b"DIRC" + struct.pack(">2I", 9, 0),
    ],
)
def test_a_damaged_index_is_not_readable_and_the_history_still_is(tmp_path: Path, index: bytes) -> None:
    repo = repository(tmp_path / "repo")
    (repo / ".git/index").write_bytes(index)
    facts = facts_of(repo, "git")
    assert facts["commits"] == 1
    assert "not readable" in facts
    assert "uncommitted changes" not in facts


_A, _B = b"\xaa" * 20, b"\xbb" * 20


def _pack(repo: Path, entries: list[tuple[bytes, bytes]]) -> None:
    """A pack and its index with these ids and raw entries."""
    pack, offsets = b"PACK" + struct.pack(">2I", 2, len(entries)), dict[bytes, int]()
    for object_id, raw in entries:
        offsets[object_id] = len(pack)
        pack += raw
    ids = sorted(offsets)
    fan_out = b"".join(struct.pack(">I", sum(i[0] <= byte for i in ids)) for byte in range(256))
    index = b"\xfftOc\0\0\0\x02" + fan_out + b"".join(ids) + b"\0" * 4 * len(ids)
    index += b"".join(struct.pack(">I", offsets[i]) for i in ids)
    folder = repo / ".git/objects/pack"
    (folder / "pack-x.pack").write_bytes(pack + b"\0" * 20)
    (folder / "pack-x.idx").write_bytes(index + b"\0" * 40)


def _entry(kind: int, size: int, content: bytes, base: bytes = b"") -> bytes:
    head, rest = bytearray(), size >> 4
    byte = (kind << 4) | (size & 15)
    while rest:
        head.append(byte | 0x80)
        byte, rest = rest & 0x7F, rest >> 7
    head.append(byte)
    return bytes(head) + base + zlib.compress(content, 9)


@pytest.mark.parametrize(
    "entries",
    [
        [(_A, _entry(7, 3, b"\x01\x01\x00", _B)), (_B, _entry(7, 3, b"\x01\x01\x00", _A))],
        [(_A, _entry(7, 3, b"\x01\x01\x00", b"\xcc" * 20))],
        [(_A, _entry(6, 3, b"\x01\x01\x00", b"\x00"))],
        [(_A, _entry(6, 3, b"\x01\x01\x00", b"\xff\xff\xff\x7f"))],
        [(_A, _entry(1, 50, b"\0" * 30_000_000))],
        [(_A, _entry(1, 1 << 40, b"\0" * 100))],
        [(_A, _entry(5, 10, b"\0" * 10))],
        [(_A, _entry(7, 39, b"\x01\xff\xff\xff\x7f" + b"\x90\x01" * 17, _B)), (_B, _entry(3, 1, b"x"))],
        [(_A, b"\xff" * 40)],
    ],
    ids=["loop", "no base", "own base", "base outside", "bomb", "huge claim", "type", "delta bomb", "endless size"],
)  # fmt: skip
def test_an_entry_of_a_pack_that_is_not_what_it_claims_is_not_readable(
    tmp_path: Path, entries: list[tuple[bytes, bytes]]
) -> None:
    repo = repository(tmp_path / "repo")
    _pack(repo, entries)
    with BoundedFolder(repo) as folder, pytest.raises(UnreadableObject):
        GitObjects(folder, ".git", 20).read("aa" * 20)


def test_a_made_up_pack_is_read_when_it_is_in_order(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    delta = b"\x03\x06" + b"\x90\x03" + b"\x03def"
    _pack(
        repo,
        [(_A, _entry(7, len(delta), delta, _B)), (_B, _entry(3, 3, b"abc"))],
    )
    with BoundedFolder(repo) as folder:
        assert GitObjects(folder, ".git", 20).read("aa" * 20).content == b"abcdef"


def test_a_budget_that_is_spent_ends_the_observation_and_is_said(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    observed = observe_all(repo, Limits(read_bytes=200))
    assert "git" in observed.partial
    assert "commits" not in {fact.aspect for fact in observed.facts}


def test_refs_kept_in_a_table_are_said_not_to_be_read(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (repo / ".git/reftable").mkdir()
    assert facts_of(repo, "git") == {"repository": "with refs that are not read (reftable)"}
