"""What language models have proposed, kept as blobs; a session's record names the one it uses."""

from datetime import datetime

from contracts.learning.model_draft import KeptModelEdits
from stores.blobs import get_blob, put_blob
from stores.canonical import canonical_json
from stores.database import Database


class ModelWordingStore:
    """Content-addressed proposals of wording. Keeping one twice is the same as keeping it once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, answer: KeptModelEdits, now: datetime) -> str:
        """Keeps a proposal and returns its digest."""
        with self._database.write() as connection:
            return put_blob(connection, canonical_json(answer).encode(), now)

    def read(self, digest: str) -> KeptModelEdits:
        """The proposal kept under ``digest``.

        Raises:
            BlobNotFoundError: nothing is kept under it.
        """
        with self._database.read() as connection:
            return KeptModelEdits.model_validate_json(get_blob(connection, digest))
