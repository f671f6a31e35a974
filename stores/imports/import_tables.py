"""Tables of skill imports: uploads, imports, and the files of staged bundles."""

from sqlalchemy import Column, Index, Integer, Table, Text

from contracts.errors import ErrorCode
from contracts.imports.import_work import SkillImport, StoredUpload
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

skill_import_uploads = Table(
    "skill_import_uploads",
    metadata,
    Column("upload_ref", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_import_uploads_by_owner", "owner", "digest"),
    Index("skill_import_uploads_by_age", "expires_at", "upload_ref"),
)

skill_imports = Table(
    "skill_imports",
    metadata,
    Column("import_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("upload_ref", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_imports_by_owner", "owner", "created_at", "import_id"),
    Index("skill_imports_by_upload", "upload_ref"),
    Index("skill_imports_by_state", "state", "import_id"),
)

# The files of a staged bundle, each a blob; one set an import, replaced as a whole.
skill_import_files = Table(
    "skill_import_files",
    metadata,
    Column("import_id", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Index("skill_import_files_by_digest", "digest"),
)

UPLOADS = DocumentTable(
    skill_import_uploads,
    StoredUpload,
    fields={"digest": "artifact.content_hash_sha256"},
    code=ErrorCode.SKILL_IMPORT_UPLOAD_NOT_FOUND,
    message="There is no such upload of yours; upload the bundle: POST /api/skills/import/uploads.",
    fixed=("owner",),
)

IMPORTS = DocumentTable(
    skill_imports,
    SkillImport,
    fields={"state": "record.stage_state", "created_at": "record.created_at"},
    code=ErrorCode.SKILL_IMPORT_NOT_FOUND,
    message="There is no such import of yours; list them: GET /api/skills/import/list.",
    conflict="The import has changed meanwhile; read it and repeat the command.",
)
