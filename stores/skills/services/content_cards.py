"""Cards of content, kept for as long as the invocation that they were made in (O-6, O-23)."""

from datetime import datetime, timedelta

from contracts.errors import ErrorCode, Refusal
from domain.maintenance.retention import INVOCATION_KEPT
from domain.skills.content.card import MOST_CARD_BYTES
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.platform.temporary_artifacts import ArtifactTerms, is_artifact_kept, keep_artifact

_KIND = "content_card"

_MOST_KEPT_BYTES = 1_000 * MOST_CARD_BYTES

_TERMS = ArtifactTerms(
    # An invocation is kept from its end, which is at most an hour after a card of it was made.
    INVOCATION_KEPT + timedelta(days=1),
    _MOST_KEPT_BYTES,
    (_KIND,),
    "Your pictures of content take 62 MiB, the most there may be; they go after 31 days.",
)


class ContentCards:
    """Each user's own. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, owner: str, card: bytes, now: datetime) -> str:
        """Keeps a card from now on; its digest.

        Raises:
            Refusal: ``STORAGE_FULL``.
        """
        with self._database.write() as connection:
            return str(keep_artifact(connection, owner, _KIND, card, now, _TERMS)["digest"])

    def card(self, owner: str, digest: str, now: datetime) -> bytes:
        """A card of the owner's.

        Raises:
            Refusal: ``NOT_FOUND`` where it has none of this digest, or its time is over.
        """
        with self._database.read() as connection:
            if not is_artifact_kept(connection, owner, _KIND, digest, now):
                raise Refusal(
                    ErrorCode.NOT_FOUND, "There is no such picture of yours, or its 31 days are over."
                )
            return get_blob(connection, digest)
