"""A picture of content, for the tests of the API."""

from datetime import UTC, datetime

from domain.skills.content.card import content_card
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.skills.services.content_cards import ContentCards

_CARD = content_card("Cold brew at home", ("What is it about?",), "twitter").encode()

CARD_DIGEST = digest_of(_CARD)


def add_card(database: Database, owner: str) -> None:
    """Keeps it for ``owner``."""
    ContentCards(database).keep(owner, _CARD, datetime.now(UTC))
