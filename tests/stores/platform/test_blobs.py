from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update

from stores.platform.blobs import BlobDamagedError, BlobNotFoundError, get_blob, put_blob
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.tables import blobs

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_blob_comes_back_under_its_digest(store: Database) -> None:
    content = bytes(range(256)) * 300
    with store.write() as connection:
        digest = put_blob(connection, content, NOW)
    assert digest == digest_of(content)
    with store.read() as connection:
        assert get_blob(connection, digest) == content


def test_the_same_content_is_kept_once(store: Database) -> None:
    for _ in range(2):
        with store.write() as connection:
            put_blob(connection, b"same", NOW)
    with store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(blobs)) == 1


def test_an_unknown_digest_is_a_key_error_that_names_it(store: Database) -> None:
    with store.read() as connection, pytest.raises(BlobNotFoundError, match="ab" * 32) as refused:
        get_blob(connection, "ab" * 32)
    assert isinstance(refused.value, KeyError)


def test_content_that_no_longer_fits_its_digest_is_not_handed_out(store: Database) -> None:
    with store.write() as connection:
        digest = put_blob(connection, b"true", NOW)
        connection.execute(update(blobs).values(content=b"false"))
    with store.read() as connection, pytest.raises(BlobDamagedError, match=digest):
        get_blob(connection, digest)
