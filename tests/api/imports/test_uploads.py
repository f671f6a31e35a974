"""Uploads of skill bundles, as a client sends them."""

import hashlib
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from contracts.imports.uploads import MOST_UPLOAD_BYTES
from tests.fixtures.importing import Importer, good_bundle, zipped
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

URL = "/api/skills/import/uploads"


@pytest.fixture
def alice(shared: Stack) -> Importer:
    return Importer(shared.learner())


async def code_of(importer: Importer, content: bytes, **fields: str) -> tuple[int, str]:
    response = await importer.send_bundle(content, **fields)
    return response.status_code, response.json()["error"]["code"]


async def test_an_archive_is_kept_for_24_hours_with_its_size_and_digest(alice: Importer) -> None:
    content = good_bundle(more="kept")
    kept = (await alice.upload(content, name="C:\\bundles\\..\\tidy.zip"))["temp_artifact"]
    assert kept["byte_size"] == len(content)
    assert kept["content_hash_sha256"] == hashlib.sha256(content).hexdigest()
    assert kept["original_filename"] == "tidy.zip"
    made, gone = (datetime.fromisoformat(kept[name]) for name in ("created_at", "expires_at"))
    assert gone - made == timedelta(hours=24)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("application/zip", "a.zip"),
        ("application/x-zip-compressed", "a.ZIP"),
        ("application/octet-stream", "a.skillbundle.zip"),
    ],
)
async def test_these_types_and_names_are_taken(alice: Importer, kind: str, name: str) -> None:
    assert (await alice.upload(kind=kind, name=name))["accepted"] is True


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"kind": "application/gzip", "name": "a.zip"}, (415, "SKILL_IMPORT_UNSUPPORTED_MIME")),
        ({"kind": "text/html", "name": "a.zip"}, (415, "SKILL_IMPORT_UNSUPPORTED_MIME")),
        ({"name": "a.tar.gz"}, (415, "SKILL_IMPORT_UNSUPPORTED_EXTENSION")),
        (
            {"kind": "application/octet-stream", "name": "a.bin"},
            (415, "SKILL_IMPORT_UNSUPPORTED_EXTENSION"),
        ),
        ({"name": ".zip"}, (415, "SKILL_IMPORT_UNSUPPORTED_EXTENSION")),
    ],
)
async def test_other_types_and_names_are_refused(
    alice: Importer, fields: dict[str, str], refused: tuple[int, str]
) -> None:
    assert await code_of(alice, good_bundle(), **fields) == refused


@pytest.mark.parametrize("content", [b"", b"no archive", b"Rar!\x1a\x07"])
async def test_what_is_no_zip_is_refused_whatever_it_is_called(alice: Importer, content: bytes) -> None:
    assert await code_of(alice, content) == (422, "SKILL_IMPORT_ARCHIVE_REQUIRED")


async def test_a_form_without_the_part_bundle_is_refused(alice: Importer) -> None:
    head = {"authorization": f"Bearer {alice.learner.secret}"}
    response = await alice.learner.http.post(URL, files={"metadata": (None, "{}")}, headers=head)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "SKILL_IMPORT_ARCHIVE_REQUIRED")


async def test_a_form_that_is_cut_off_or_has_no_boundary_is_refused(alice: Importer) -> None:
    for kind, body in (
        ("multipart/form-data", b"--x\r\n"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="bundle'),
        ("multipart/form-data; boundary=x", b"nothing of it"),
    ):
        head = {"authorization": f"Bearer {alice.learner.secret}", "content-type": kind}
        response = await alice.learner.http.post(URL, content=body, headers=head)
        assert response.status_code == 422, (kind, response.text)


@pytest.mark.parametrize(
    "metadata", ["[]", "{", '{"surprise": 1}', '{"source": "nowhere"}', '{"notes": "a", "notes": "b"}']
)
async def test_metadata_that_does_not_fit_is_refused_at_its_place(alice: Importer, metadata: str) -> None:
    response = await alice.send_bundle(good_bundle(), metadata=metadata)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (422, "VALIDATION_FAILED")
    assert all(one["path"].startswith("metadata") for one in error["fields"])
    assert "surprise" not in response.text


@pytest.mark.parametrize("announced", [True, pytest.param(False, marks=pytest.mark.thorough)])
async def test_an_upload_over_the_limit_is_refused_while_it_is_read(alice: Importer, announced: bool) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="bundle"; filename="a.zip"\r\n'
        yield b"Content-Type: application/zip\r\n\r\nPK\x03\x04"
        while True:
            sent += 1024 * 1024
            yield bytes(1024 * 1024)

    head = {
        "authorization": f"Bearer {alice.learner.secret}",
        "content-type": "multipart/form-data; boundary=x",
    }
    if announced:
        head["content-length"] = str(MOST_UPLOAD_BYTES + 1_000_000)
    response = await alice.learner.http.post(URL, content=endless(), headers=head)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "SKILL_IMPORT_FILE_TOO_LARGE")
    assert response.json()["error"]["limit_bytes"] == MOST_UPLOAD_BYTES
    assert sent <= (0 if announced else MOST_UPLOAD_BYTES + 2 * 1024 * 1024)


async def test_the_same_request_id_and_file_are_one_upload(alice: Importer) -> None:
    metadata = json.dumps({"client_request_id": "upload-1"})
    content = good_bundle(more="once")
    first = await alice.upload(content, metadata=metadata)
    assert await alice.upload(content, metadata=metadata) == first
    other = await alice.send_bundle(good_bundle(more="twice"), metadata=metadata)
    assert (other.status_code, other.json()["error"]["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_a_deleted_upload_is_gone_and_can_be_uploaded_again(alice: Importer) -> None:
    content = zipped({"SKILL.md": "# Deleted"})
    await alice.upload(content)
    deleted = await alice.learner.ok("DELETE", f"{URL}/{alice.upload_ref}")
    assert deleted == {"deleted": True, "temp_artifact_ref": alice.upload_ref, "schema_version": 1}
    status, error = await alice.learner.refused("DELETE", f"{URL}/{alice.upload_ref}")
    assert (status, error["code"]) == (404, "SKILL_IMPORT_UPLOAD_NOT_FOUND")
    assert (await alice.upload(content))["accepted"] is True


async def test_another_users_upload_is_not_deleted(shared: Stack, alice: Importer) -> None:
    await alice.upload()
    status, error = await shared.learner("bob").refused("DELETE", f"{URL}/{alice.upload_ref}")
    assert (status, error["code"]) == (404, "SKILL_IMPORT_UPLOAD_NOT_FOUND")
