"""The steps of the projector's tests: what is decided, and what files must hold of it."""

from sqlalchemy import insert

from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.platform.projection.documents import DocumentRoot, put_document, remove_document
from stores.platform.tables import stream_archives
from tests.stores.platform.journal_drafts import RECEIPTS, draft

CURRENT = "system/learning/runtime/current.json"
SKILL = "skills/report/SKILL.md"
ARCHIVE = "system/learning/archived/receipts-1.jsonl"


def put(store: Database, path: str, content: bytes, root: DocumentRoot = "memory") -> None:
    """Decides that a document holds this."""
    with store.write() as connection:
        put_document(connection, root, path, content)


def remove(store: Database, path: str, root: DocumentRoot = "memory") -> None:
    """Decides that a document is gone."""
    with store.write() as connection:
        remove_document(connection, root, path)


def append_entries(store: Database, *numbers: int, stream: str = RECEIPTS) -> int:
    """Appends one entry a number; the last one's place in the journal."""
    with store.write() as connection:
        return append(connection, [draft(number, stream=stream) for number in numbers])[-1]


def archive(store: Database, upto: int, archive: str = ARCHIVE) -> None:
    """Decides that receipts up to ``upto`` belong in an archive."""
    row = {"stream": RECEIPTS, "archive": archive, "upto_seq": upto, "created_at": "2026-11-01T00:00:00Z"}
    with store.write() as connection:
        connection.execute(insert(stream_archives), row)


def lines(*numbers: int) -> bytes:
    """The lines of these entries."""
    return "".join(f"{canonical_json(draft(number).document)}\n" for number in numbers).encode()
