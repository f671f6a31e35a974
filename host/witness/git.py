"""Witness of git repositories: branches, tags, current branch, merge under way, commits, uncommitted changes.

Everything is read from the files of the repository (``git_objects``, ``git_index``); git itself does not run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFolder, LimitReached, readable
from host.witness.fact import FactMaker
from host.witness.git_index import changed_files, files_of_tree, read_index
from host.witness.git_objects import GitObject, GitObjects, UnreadableObject

fact = FactMaker("git")

MAX_REPOSITORIES = 20
"""Repositories of one folder that are looked at."""

MAX_REFS = 2_000
"""Branches and tags of a repository."""

MAX_COMMITS = 20_000
"""Commits that are counted; beyond them the number is left out."""

_MAX_REF_BYTES = 1024
_MAX_PACKED_REFS_BYTES = 8 * 1024 * 1024
_MAX_REF_DEPTH = 10
_MAX_LINKED_REFS = 5
_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_PACKED = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (refs/(?:heads|tags)/\S.*)")
_REF = re.compile(r"refs/[^\x00-\x20~^:?*\[\\\x7f]+")
_UNDER_WAY = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class GitWitness:
    """Facts of every repository in a folder; the subject is ``git``, or ``git in sub`` below the top."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of the repositories of ``folder``.

        Raises:
            LimitReached: the budget is spent; what was given until then stands.
        """
        found = 0
        for entry in folder.entries:
            if entry.name != ".git":
                continue
            top = entry.path.removesuffix(".git").rstrip("/")
            subject = f"git in {readable(top)}" if top else "git"
            found += 1
            if found > MAX_REPOSITORIES:
                raise LimitReached("too many repositories")
            if entry.kind == "folder":
                yield from _Repository(folder, entry.path, top, subject).facts()
            else:
                # A worktree, a submodule or a link: what it points to may be anywhere.
                yield fact(subject, "repository", "kept elsewhere")
        for path in folder.bare_repositories[: MAX_REPOSITORIES - found]:
            subject = f"git in {readable(path)}" if path else "git"
            yield from _Repository(folder, path or ".", None, subject).facts()


@dataclass(frozen=True)
class _Commit:
    tree: str
    parents: tuple[str, ...]
    message: str


class _Repository:
    """One repository; ``top`` is its working folder, None where it has none."""

    def __init__(self, folder: BoundedFolder, git: str, top: str | None, subject: str) -> None:
        self.folder, self.git, self.top, self.subject = folder, git, top, subject
        self.refs = self._packed_refs() | self._loose_refs()
        self.head = (self._text("HEAD") or "").strip()
        self.branch = self.head.removeprefix("ref: refs/heads/") if self.head.startswith("ref: ") else ""
        self.head_id = self._resolved(self.head)
        self.id_bytes = len(self.head_id or next(iter(self.refs.values()), "0" * 40)) // 2
        self.objects = GitObjects(folder, git, self.id_bytes)

    def facts(self) -> Iterator[StateFact]:
        """The facts of this repository; what cannot be read is left out and said."""
        if "reftable" in self.folder.names(self.git):
            yield self._fact("repository", "with refs that are not read (reftable)")
            return
        if not self.head:
            yield self._fact("repository", "not readable")
            return
        yield self._fact("repository", "there")
        yield self._fact("current branch", self.branch or "none (detached)")
        yield self._fact("under way", self._under_way())
        yield from self._ref_facts()
        try:
            yield from self._history_facts()
            if self.top is not None:
                yield from self._change_facts(self.top)
        except UnreadableObject as error:
            yield self._fact("not readable", str(error))

    def _ref_facts(self) -> Iterator[StateFact]:
        for name, object_id in sorted(self.refs.items()):
            kind, _, short = name.removeprefix("refs/").partition("/")
            if kind == "heads":
                yield self._fact(f"branch {short}", "there")
                yield self._fact(f"commit of branch {short}", object_id)
            else:
                yield from self._tag_facts(short, object_id)

    def _tag_facts(self, name: str, object_id: str) -> Iterator[StateFact]:
        kind, commit = "not readable", object_id
        try:
            found = self.objects.read(object_id)
            kind = "annotated" if found.kind == "tag" else "lightweight"
            if found.kind == "tag":
                commit = _header(found, b"object") or object_id
                yield self._fact(f"message of tag {name}", _message(found))
        except UnreadableObject:
            pass
        yield self._fact(f"tag {name}", kind)
        yield self._fact(f"commit of tag {name}", commit)

    def _history_facts(self) -> Iterator[StateFact]:
        if self.head_id is None:
            yield self._fact("commits", 0)
            return
        shallow = set((self._text("shallow") or "").split())
        waiting, seen, merges = [self.head_id], {self.head_id}, 0
        while waiting:
            object_id = waiting.pop()
            commit = self._commit(object_id)
            merges += len(commit.parents) > 1
            new = set(commit.parents) - seen if object_id not in shallow else set[str]()
            seen |= new
            waiting += new
            if len(seen) > MAX_COMMITS:
                return
        yield self._fact("commits", len(seen))
        yield self._fact("merge commits", merges)
        yield self._fact("last message", self._commit(self.head_id).message)

    def _change_facts(self, top: str) -> Iterator[StateFact]:
        index = read_index(self.folder, self.git, self.id_bytes)
        committed = {}
        if self.head_id is not None:
            committed = files_of_tree(self.objects, self._commit(self.head_id).tree, self.id_bytes)
        conflicts = {entry.path for entry in index if entry.stage}
        changed = changed_files(self.folder, top, index, committed)
        yield self._fact("tracked files", len({entry.path for entry in index}))
        yield self._fact("conflicts", len(conflicts))
        yield self._fact("uncommitted changes", len(changed))

    def _commit(self, object_id: str) -> _Commit:
        found = self.objects.read(object_id)
        tree = _header(found, b"tree")
        if found.kind != "commit" or tree is None:
            raise UnreadableObject(f"object {object_id} is no commit")
        head = found.content.partition(b"\n\n")[0]
        parents = (
            line[7:].decode("ascii", "replace") for line in head.split(b"\n") if line[:7] == b"parent "
        )
        return _Commit(tree, tuple(p for p in parents if _ID.fullmatch(p)), _message(found))

    def _under_way(self) -> str:
        names = set(self.folder.names(self.git))
        return next((what for name, what in _UNDER_WAY if name in names), "nothing")

    def _packed_refs(self) -> dict[str, str]:
        text = self._text("packed-refs", _MAX_PACKED_REFS_BYTES) or ""
        found = (_PACKED.fullmatch(line) for line in text.splitlines())
        return dict((m[2], m[1]) for m, _ in zip(filter(None, found), range(MAX_REFS), strict=False))

    def _loose_refs(self) -> dict[str, str]:
        refs: dict[str, str] = {}
        waiting = [("refs/heads", 0), ("refs/tags", 0)]
        while waiting and len(refs) < MAX_REFS:
            path, depth = waiting.pop()
            self.folder.budget.spend()
            for name in self.folder.names(f"{self.git}/{path}"):
                inner = f"{path}/{name}"
                value = self._text(inner)
                if value is None:
                    if depth < _MAX_REF_DEPTH:
                        waiting.append((inner, depth + 1))
                elif _ID.fullmatch(value.strip()) and len(refs) < MAX_REFS:
                    refs[inner] = value.strip()
        return refs

    def _resolved(self, value: str) -> str | None:
        """The commit that the text of HEAD leads to; None on a branch without one."""
        for _ in range(_MAX_LINKED_REFS):
            if _ID.fullmatch(value):
                return value
            name = value.removeprefix("ref: ")
            if name == value or not _REF.fullmatch(name) or ".." in name:
                return None
            value = self.refs.get(name) or (self._text(name) or "").strip()
        return None

    def _text(self, name: str, limit: int = _MAX_REF_BYTES) -> str | None:
        content = self.folder.read(f"{self.git}/{name}", limit)
        return None if content is None else content.decode("utf-8", errors="replace")

    def _fact(self, aspect: str, value: int | str) -> StateFact:
        return fact(self.subject, aspect, value)


def _header(found: GitObject, name: bytes) -> str | None:
    head = found.content.partition(b"\n\n")[0]
    for line in head.split(b"\n"):
        if line.startswith(name + b" "):
            value = line[len(name) + 1 :].decode("ascii", errors="replace")
            return value if _ID.fullmatch(value) else None
    return None


def _message(found: GitObject) -> str:
    """The first line of the message of a commit or tag."""
    text = found.content.partition(b"\n\n")[2].lstrip(b"\n")
    return text.partition(b"\n")[0][:1000].decode("utf-8", errors="replace")
