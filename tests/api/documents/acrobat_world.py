"""What an operation on a document found, for the tests of the API."""

from datetime import UTC, datetime

from stores.documents.acrobat import AcrobatArtifacts
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database

_FOUND = canonical_json(
    {
        "capability": "extract_text",
        "source_digest": "7e" * 32,
        "page_count": 1,
        "pages_read": [1],
        "text": [{"page": 1, "text": "Hello"}],
    }
).encode()

OUTPUT_DIGEST = digest_of(_FOUND)


def add_output(database: Database, owner: str) -> None:
    """Keeps it for ``owner``."""
    AcrobatArtifacts(database).keep_output(owner, _FOUND, datetime.now(UTC))
