"""Tables of skill packs: the packs of each user, and their installs."""

from sqlalchemy import Column, Index, Integer, Table, Text

from contracts.errors import ErrorCode
from contracts.imports.pack_install import PackInstall
from contracts.imports.pack_members import StoredPack
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

skill_packs = Table(
    "skill_packs",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("pack_id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

skill_pack_installs = Table(
    "skill_pack_installs",
    metadata,
    Column("pack_install_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("pack_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_pack_installs_by_pack", "owner", "pack_id", "started_at"),
    Index("skill_pack_installs_by_state", "state", "pack_install_id"),
)

PACKS = DocumentTable(
    skill_packs,
    StoredPack,
    code=ErrorCode.SKILL_PACK_NOT_FOUND,
    message="There is no such pack of yours; list them: GET /api/skills/packs.",
    conflict="The pack has changed meanwhile; read it again.",
)

PACK_INSTALLS = DocumentTable(
    skill_pack_installs,
    PackInstall,
    code=ErrorCode.SKILL_PACK_INSTALL_NOT_FOUND,
    message="There is no such install of a pack of yours.",
    conflict="The install has changed meanwhile; read it again.",
    fixed=("owner", "started_at"),
)
