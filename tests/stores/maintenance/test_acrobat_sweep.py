"""Uploaded documents are deleted after a week, with their content unless another row refers to it."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from contracts.maintenance.runs import SweepName
from stores.documents.acrobat import KEPT, AcrobatArtifacts
from stores.platform import tables
from stores.platform.blobs import put_blob
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.tables import temporary_artifacts
from tests.fixtures.past import NOW, Nights

INSTANT = timedelta(microseconds=1)


def contents(database: Database) -> set[bytes]:
    with database.read() as connection:
        return {bytes(one) for one in connection.scalars(select(tables.blobs.c.content))}


def test_a_document_and_its_output_go_when_their_week_is_over_and_not_before(nights: Nights) -> None:
    artifacts = AcrobatArtifacts(nights.database)
    artifacts.keep_source("ann", b"old", NOW - KEPT)
    artifacts.keep_output("ann", b"old output", NOW - KEPT)
    artifacts.keep_source("ann", b"young", NOW - KEPT + INSTANT)
    progress = nights.run(SweepName.REMOVE_BLOBS, limit=1).progress(SweepName.REMOVE_BLOBS)
    assert contents(nights.database) == {b"young"}
    assert (progress.done, progress.removed) == (2, 4)


def test_content_that_another_row_refers_to_stays(nights: Nights) -> None:
    artifacts = AcrobatArtifacts(nights.database)
    artifacts.keep_source("ann", b"shared", NOW - KEPT)
    artifacts.keep_source("bob", b"shared", NOW)
    nights.run(SweepName.REMOVE_BLOBS)
    assert contents(nights.database) == {b"shared"}
    with nights.database.read() as connection:
        assert connection.scalars(select(temporary_artifacts.c.owner)).all() == ["bob"]


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_blobs_without_a_reference_still_go_after_it(nights: Nights, limit: int) -> None:
    artifacts = AcrobatArtifacts(nights.database)
    artifacts.keep_source("a|b", b"old", NOW - KEPT)
    with nights.database.write() as connection:
        put_blob(connection, b"nobody's", NOW - timedelta(days=30))
        put_blob(connection, b"young", NOW)
    run = nights.run(SweepName.REMOVE_BLOBS, limit=limit)
    assert contents(nights.database) == {b"young"}
    assert digest_of(b"nobody's") in run.progress(SweepName.REMOVE_BLOBS).sample_ids
