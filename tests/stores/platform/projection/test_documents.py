import pytest
from sqlalchemy import select, update

from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.platform.projection.documents import (
    DocumentConflictError,
    InvalidTreePathError,
    document_digests,
    list_documents,
    put_document,
    put_documents,
    read_document,
    remove_document,
)
from stores.platform.tables import documents
from tests.stores.platform.journal_drafts import RECEIPTS, draft


def _put(store: Database, path: str, content: bytes = b"x") -> None:
    with store.write() as connection:
        put_document(connection, "memory", path, content)


def _is_dirty(store: Database, path: str) -> bool | None:
    with store.read() as connection:
        return connection.scalar(select(documents.c.dirty).where(documents.c.path == path))


def _settle(store: Database) -> None:
    with store.write() as connection:
        connection.execute(update(documents).values(dirty=False))


def test_a_document_is_read_as_it_was_last_put(store: Database) -> None:
    with store.read() as connection:
        assert read_document(connection, "memory", "a.json") is None
    _put(store, "a.json", b"one")
    _put(store, "a.json", b"two")
    with store.read() as connection:
        assert read_document(connection, "memory", "a.json") == b"two"
        assert read_document(connection, "workspace", "a.json") is None


def test_only_other_content_makes_a_document_dirty(store: Database) -> None:
    _put(store, "a.json", b"one")
    _settle(store)
    _put(store, "a.json", b"one")
    assert _is_dirty(store, "a.json") is False
    _put(store, "a.json", b"two")
    assert _is_dirty(store, "a.json") is True


def test_a_removed_document_is_gone_for_readers_and_dirty_for_the_projector(store: Database) -> None:
    _put(store, "system/a.json")
    _settle(store)
    with store.write() as connection:
        remove_document(connection, "memory", "system/a.json")
        remove_document(connection, "memory", "never-was.json")
    with store.read() as connection:
        assert read_document(connection, "memory", "system/a.json") is None
        assert list_documents(connection, "memory", "system") == ()
    assert _is_dirty(store, "system/a.json") is True
    assert _is_dirty(store, "never-was.json") is None


def test_a_removed_document_can_be_put_again_with_the_same_content(store: Database) -> None:
    _put(store, "a.json")
    with store.write() as connection:
        remove_document(connection, "memory", "a.json")
    _put(store, "a.json")
    with store.read() as connection:
        assert read_document(connection, "memory", "a.json") == b"x"


def test_an_empty_file_is_a_document_and_no_tombstone(store: Database) -> None:
    _put(store, "system/empty", b"")
    with store.read() as connection:
        assert read_document(connection, "memory", "system/empty") == b""
        assert list_documents(connection, "memory", "system") == ("system/empty",)


def test_documents_are_listed_by_folder(store: Database) -> None:
    for path in ("a/one", "a/b/two", "a0", "ab/three", "z"):
        _put(store, path)
    with store.read() as connection:
        assert list_documents(connection, "memory", "a") == ("a/b/two", "a/one")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../outside",
        "a/../b",
        "a//b",
        "a/.",
        "a/",
        "a\\b",
        "a\nb",
        "a\x00b",
        "a\u202eb",
        "e\u0301",
        "x" * 201,
        "/".join(["abcdefg"] * 200),
        "a.apprentice-tmp",
    ],
)
def test_a_path_that_leaves_the_tree_or_misleads_is_refused(sqlite_store: Database, path: str) -> None:
    with sqlite_store.write() as connection:
        with pytest.raises(InvalidTreePathError):
            put_document(connection, "memory", path, b"x")
        with pytest.raises(InvalidTreePathError):
            remove_document(connection, "memory", path)


@pytest.mark.parametrize(("first", "second"), [("a", "a/b/c"), ("a/b/c", "a/b"), ("a/b", "a")])
def test_a_file_and_a_folder_cannot_share_a_place(store: Database, first: str, second: str) -> None:
    _put(store, first)
    with pytest.raises(DocumentConflictError, match=first):
        _put(store, second)
    with store.write() as connection:
        remove_document(connection, "memory", first)
    _put(store, second)


def test_of_documents_that_are_put_together_none_is_the_folder_of_another_and_none_is_kept(
    store: Database,
) -> None:
    asked = {"z": b"x", "a/b": b"x", "a/b/c": b"x"}
    with store.write() as connection, pytest.raises(DocumentConflictError, match="a/b"):
        put_documents(connection, "memory", asked)
    with store.read() as connection:
        assert document_digests(connection, "memory", asked) == {}


def test_documents_that_are_put_together_are_each_as_if_put_alone(store: Database) -> None:
    _put(store, "a", b"as it was")
    _put(store, "b", b"old")
    _settle(store)
    with store.write() as connection:
        put_documents(connection, "memory", {"a": b"as it was", "b": b"new", "c": b"new"})
    assert [_is_dirty(store, path) for path in ("a", "b", "c")] == [False, True, True]
    with store.read() as connection:
        assert read_document(connection, "memory", "b") == b"new"


def test_a_document_cannot_take_the_place_of_a_stream(store: Database) -> None:
    with store.write() as connection:
        append(connection, [draft(1)])
    with pytest.raises(DocumentConflictError, match="stream"):
        _put(store, f"{RECEIPTS}.jsonl")
