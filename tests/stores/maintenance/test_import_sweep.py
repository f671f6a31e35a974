"""Uploads of skill bundles go after 24 hours, also where an import was made of them; staged files stay."""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from uuid_utils import uuid7

from contracts.imports.import_work import ImportCommand, ImportOrder, UploadedBundle
from contracts.imports.uploads import TEMP_ARTIFACT_LIVES, SkillImportUploadMetadata
from contracts.maintenance.runs import SweepName
from contracts.platform.commands import CommitKey
from stores.imports.import_tables import skill_import_uploads
from stores.imports.imports import SkillImports
from stores.imports.uploads import BundleUploads
from stores.platform import tables
from stores.platform.canonical import digest_of
from tests.fixtures.past import NOW, Nights


def uploaded(nights: Nights, content: bytes, at: datetime) -> str:
    bundle = UploadedBundle(
        metadata=SkillImportUploadMetadata(), filename="a.zip", content_hash_sha256=digest_of(content)
    )
    kept = BundleUploads(nights.database).keep("ann", bundle, content, at, "test")
    return kept.temp_artifact.temp_artifact_ref


def imported(nights: Nights, upload_ref: str, at: datetime) -> str:
    import_id = str(uuid7())
    order = ImportOrder(
        import_id=import_id,
        command=ImportCommand.SCAN,
        commit_key=CommitKey(owner_user_id="ann", key=import_id, request_digest="0" * 64),
        correlation_id="test",
        upload_ref=upload_ref,
        at=at,
    )
    SkillImports(nights.database).command(order)
    return import_id


def test_an_upload_is_gone_after_its_24_hours_and_its_import_stays(nights: Nights) -> None:
    begun = NOW - TEMP_ARTIFACT_LIVES
    import_id = imported(nights, uploaded(nights, b"old bundle", begun), begun)
    uploaded(nights, b"young bundle", begun + timedelta(minutes=1))
    imports = SkillImports(nights.database)
    imports.keep_files(import_id, {"SKILL.md": b"staged"}, begun - timedelta(days=40))
    nights.run(SweepName.REMOVE_BLOBS)
    with nights.database.read() as connection:
        kept = {bytes(one) for one in connection.scalars(select(tables.blobs.c.content))}
        rows = connection.scalar(select(func.count()).select_from(skill_import_uploads))
    assert kept == {b"young bundle", b"staged"}
    assert rows == 1
    assert imports.find(import_id) is not None
    assert imports.files(import_id) == {"SKILL.md": b"staged"}
