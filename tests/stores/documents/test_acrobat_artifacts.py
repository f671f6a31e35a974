"""Documents that were handed in: each its owner's, by reference alone, for a week."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.documents.acrobat import AcrobatSourceKind
from contracts.errors import ErrorCode, Refusal
from stores.documents.acrobat import KEPT, AcrobatArtifacts
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.temporary_artifacts import expired_artifacts

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
DOCUMENT = b"%PDF-1.7 a document"
DIGEST = digest_of(DOCUMENT)


def refused(
    artifacts: AcrobatArtifacts, owner: str, kind: AcrobatSourceKind, ref: str, at: datetime
) -> Refusal:
    with pytest.raises(Refusal) as caught:
        artifacts.source(owner, kind, ref, at)
    return caught.value


def test_a_document_is_found_by_what_it_was_given_and_by_its_digest(store: Database) -> None:
    artifacts = AcrobatArtifacts(store)
    kept = artifacts.keep_source("ann", DOCUMENT, NOW)
    assert (kept.digest, kept.size_bytes) == (DIGEST, len(DOCUMENT))
    for kind, ref in (
        (AcrobatSourceKind.TEMP_ARTIFACT_REF, kept.temp_artifact_ref),
        (AcrobatSourceKind.DOCUMENT_REF, DIGEST),
        (AcrobatSourceKind.DOCUMENT_REF, f"sha256:{DIGEST}"),
        (AcrobatSourceKind.MATERIALIZED_BUNDLE, f"materialized-bundle/{DIGEST}"),
    ):
        assert artifacts.source("ann", kind, ref, NOW) == (DIGEST, DOCUMENT)


@pytest.mark.parametrize(
    ("kind", "ref"),
    [
        (AcrobatSourceKind.TEMP_ARTIFACT_REF, "temp-artifact/" + "0" * 64),
        (AcrobatSourceKind.TEMP_ARTIFACT_REF, "/etc/passwd"),
        (AcrobatSourceKind.TEMP_ARTIFACT_REF, f"../{DIGEST}"),
        (AcrobatSourceKind.DOCUMENT_REF, f"temp-artifact/{DIGEST}"),
        (AcrobatSourceKind.DOCUMENT_REF, f"file:///{DIGEST}"),
        (AcrobatSourceKind.DOCUMENT_REF, DIGEST.upper()),
        (AcrobatSourceKind.MATERIALIZED_BUNDLE, DIGEST),
    ],
)
def test_a_path_or_a_reference_of_another_kind_names_nothing(
    store: Database, kind: AcrobatSourceKind, ref: str
) -> None:
    artifacts = AcrobatArtifacts(store)
    artifacts.keep_source("ann", DOCUMENT, NOW)
    assert refused(artifacts, "ann", kind, ref, NOW).code is ErrorCode.ACROBAT_SOURCE_NOT_FOUND


def test_a_document_is_its_owners_even_where_somebody_else_knows_its_digest(store: Database) -> None:
    artifacts = AcrobatArtifacts(store)
    artifacts.keep_source("ann", DOCUMENT, NOW)
    refusal = refused(artifacts, "bob", AcrobatSourceKind.DOCUMENT_REF, DIGEST, NOW)
    assert refusal.code is ErrorCode.ACROBAT_SOURCE_NOT_FOUND


def test_a_document_is_there_for_a_week_after_it_was_handed_in_last(store: Database) -> None:
    artifacts = AcrobatArtifacts(store)
    ref = artifacts.keep_source("ann", DOCUMENT, NOW).temp_artifact_ref
    last = NOW + timedelta(days=2)
    assert artifacts.keep_source("ann", DOCUMENT, last).temp_artifact_ref == ref
    over = last + KEPT
    assert artifacts.source("ann", AcrobatSourceKind.TEMP_ARTIFACT_REF, ref, over - INSTANT)
    refused(artifacts, "ann", AcrobatSourceKind.TEMP_ARTIFACT_REF, ref, over)


def test_an_output_is_no_source_and_a_source_no_output(store: Database) -> None:
    artifacts = AcrobatArtifacts(store)
    ref = artifacts.keep_output("ann", b"{}", NOW)
    digest = ref.rpartition("/")[2]
    assert artifacts.output("ann", digest, NOW) == b"{}"
    refused(artifacts, "ann", AcrobatSourceKind.DOCUMENT_REF, digest, NOW)
    artifacts.keep_source("ann", DOCUMENT, NOW)
    for owner, wanted in (("ann", DIGEST), ("bob", digest)):
        with pytest.raises(Refusal) as caught:
            artifacts.output(owner, wanted, NOW)
        assert caught.value.code is ErrorCode.NOT_FOUND


def test_what_is_forgotten_is_gone_for_its_owner_alone_until_it_is_handed_in_again(store: Database) -> None:
    artifacts = AcrobatArtifacts(store)
    ref = artifacts.keep_source("ann", DOCUMENT, NOW).temp_artifact_ref
    artifacts.keep_source("bob", DOCUMENT, NOW)
    artifacts.forget("ann", DIGEST, NOW)
    refused(artifacts, "ann", AcrobatSourceKind.TEMP_ARTIFACT_REF, ref, NOW)
    assert artifacts.source("bob", AcrobatSourceKind.TEMP_ARTIFACT_REF, ref, NOW) == (DIGEST, DOCUMENT)
    for owner in ("ann", "eve"):
        with pytest.raises(Refusal) as caught:
            artifacts.forget(owner, DIGEST, NOW)
        assert caught.value.code is ErrorCode.NOT_FOUND
    artifacts.keep_source("ann", DOCUMENT, NOW)
    assert artifacts.source("ann", AcrobatSourceKind.TEMP_ARTIFACT_REF, ref, NOW) == (DIGEST, DOCUMENT)


def test_what_is_forgotten_is_what_the_next_sweep_deletes_and_takes_no_room(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.documents.acrobat.MOST_KEPT_BYTES", 30)
    artifacts = AcrobatArtifacts(store)
    artifacts.keep_source("ann", DOCUMENT, NOW)
    artifacts.forget("ann", DIGEST, NOW)
    artifacts.keep_output("ann", b"x" * 20, NOW)
    with store.read() as connection:
        assert [key.digest for key in expired_artifacts(connection, NOW, None, 10)] == [DIGEST]


def test_more_than_there_may_be_is_refused_and_nothing_of_it_kept(
    store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.documents.acrobat.MOST_KEPT_BYTES", 30)
    artifacts = AcrobatArtifacts(store)
    artifacts.keep_source("ann", DOCUMENT, NOW)
    with pytest.raises(Refusal) as caught:
        artifacts.keep_output("ann", b"x" * 20, NOW)
    assert caught.value.code is ErrorCode.STORAGE_FULL
    artifacts.keep_output("bob", b"x" * 20, NOW)
    artifacts.keep_output("ann", b"x" * 20, NOW + KEPT)
