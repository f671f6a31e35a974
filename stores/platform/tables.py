"""The SQL schema, the same on SQLite and PostgreSQL. Times are RFC 3339 text, documents canonical JSON text."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

metadata = MetaData()
Sequence64 = BigInteger().with_variant(Integer, "sqlite")

learn_sessions = Table(
    "learn_sessions",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("change", Integer, nullable=False),
    Column("holds_slot", Boolean, nullable=False),
    Column("at_rest_at", Text),
    Column("archived_at", Text),
    Column("observations_purged_at", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("aggregate", Text, nullable=False),
    Index("learn_sessions_by_owner", "owner", "session_id", "archived_at", "state"),
    Index("learn_sessions_by_change", "owner", "updated_at"),
    # One session that is not at rest per owner: the database, not the application, holds the rule.
    Index(
        "one_active_session",
        "owner",
        unique=True,
        sqlite_where=text("holds_slot"),
        postgresql_where=text("holds_slot"),
    ),
)

HOLDS_SLOT: ColumnElement[bool] = literal_column("learn_sessions.holds_slot")
"""That a session is not at rest, spelled as the partial index spells it, so that it serves."""

commits = Table(
    "commits",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_digest", Text, nullable=False),
    Column("receipt", Text, nullable=False),
    Column("response", Text),
    Column("created_at", Text, nullable=False),
    Index("commits_by_age", "created_at"),
)

observations = Table(
    "observations",
    metadata,
    Column("seq", Sequence64, primary_key=True, autoincrement=True),
    Column("session_id", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("retain", Boolean, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("session_id", "event_id", name="observed_once"),
)

lesson_evidence = Table(
    "lesson_evidence",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("made_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

observation_counters = Table(
    "observation_counters",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("accepted", Integer, nullable=False),
    Column("off_target", Integer, nullable=False),
    Column("not_meaningful", Integer, nullable=False),
    Column("adapters", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

boundaries = Table(
    "boundaries",
    metadata,
    Column("boundary_id", Text, primary_key=True),
    Column("session_id", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
)

blobs = Table(
    "blobs",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
)

# What a demonstration's folder held before the first command; the contents are blobs of their session alone.
starting_states = Table(
    "starting_states",
    metadata,
    Column("state_id", Text, primary_key=True),
    Column("session_id", Text, nullable=False, index=True),
    Column("taken_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

starting_contents = Table(
    "starting_contents",
    metadata,
    Column("state_id", Text, ForeignKey("starting_states.state_id", ondelete="CASCADE"), primary_key=True),
    Column("sha256", Text, primary_key=True),
    Column("blob", Text, nullable=False, index=True),
    Index("starting_contents_by_content", "sha256"),
)

proposals = Table(
    "proposals",
    metadata,
    Column("proposal_id", Text, primary_key=True),
    Column("session_id", Text, nullable=False, index=True),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("staged", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("archived_at", Text),
    Column("body", Text, nullable=False),
    Index("proposals_by_owner", "owner", "proposal_id", "archived_at", "state", "session_id"),
    Index("proposals_by_session", "owner", "session_id"),
)

proposal_rounds = Table(
    "proposal_rounds",
    metadata,
    Column("proposal_id", Text, primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("drafted_at", Text, nullable=False),
    Column("staged", Text, nullable=False),
    Column("body", Text, nullable=False),
)

questions = Table(
    "questions",
    metadata,
    Column("question_id", Text, primary_key=True),
    Column("proposal_id", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
    Column("answer", Text),
)

validation_runs = Table(
    "validation_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("proposal_id", Text, nullable=False, index=True),
    Column("content_hash", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
)

validation_steps = Table(
    "validation_steps",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("test_case_id", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

install_sagas = Table(
    "install_sagas",
    metadata,
    Column("saga_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("proposal_id", Text, nullable=False, index=True),
    Column("state", Text, nullable=False, index=True),
    Column("plan", Text),
    Column("body", Text, nullable=False),
)

capabilities = Table(
    "capabilities",
    metadata,
    Column("capability_id", Text, primary_key=True),
    Column("ability_id", Text, nullable=False, index=True),
    Column("health", Text, nullable=False),
    Column("manifest", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

abilities = Table(
    "abilities",
    metadata,
    Column("ability_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("slug", Text, nullable=False, unique=True),
    Column("lane", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("abilities_by_owner", "owner", "ability_id"),
    Index("abilities_by_lane", "lane", "ability_id"),
    Index("abilities_by_change", "updated_at"),
)

ability_versions = Table(
    "ability_versions",
    metadata,
    Column("ability_id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("saga_id", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("root", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    # No content is a tombstone: the projector removes the file, then the row.
    Column("content", LargeBinary),
    Column("digest", Text),
    Column("dirty", Boolean, nullable=False),
    # Set before the first write to the workspace: a file that someone else made is never touched.
    Column("claimed", Boolean, nullable=False, server_default=text("false")),
    Column("parts", Text),  # The list whose entries are rows of document_parts: ``content`` lacks them.
    Column("change", BigInteger),  # Of a document in parts: the number of its newest change,
    Column("dropped", BigInteger),  # and of the newest that removed parts.
    Index("dirty_documents", "dirty", sqlite_where=text("dirty"), postgresql_where=text("dirty")),
)

IS_DIRTY: ColumnElement[bool] = literal_column("documents.dirty")
"""That a document is not on the disk as it is here, spelled as the partial index spells it, so that it serves."""

document_parts = Table(
    "document_parts",
    metadata,
    Column("path", Text, primary_key=True),
    Column("part", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("behind", Boolean, nullable=False, server_default=text("false")),
    Column("change", BigInteger, nullable=False, server_default=text("0")),
    Index("document_parts_by_change", "path", "change"),
    Index("behind_document_parts", "path", sqlite_where=text("behind"), postgresql_where=text("behind")),
)

# The folders that the projector made in the workspace, and so removes when they are empty.
claimed_folders = Table("claimed_folders", metadata, Column("path", Text, primary_key=True))

_OF_ABILITY: Any = {f"{name}_where": text("ability_id IS NOT NULL") for name in ("sqlite", "postgresql")}

journal = Table(
    "journal",
    metadata,
    Column("seq", Sequence64, primary_key=True, autoincrement=True),
    Column("stream", Text, nullable=False),
    Column("aggregate", Text, nullable=False),
    Column("aggregate_seq", Integer, nullable=False),
    Column("owner", Text, nullable=False),
    Column("session_id", Text),
    Column("proposal_id", Text),
    Column("ability_id", Text),
    Column("correlation_id", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("prev_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("aggregate", "aggregate_seq", name="journal_chain"),
    Index("journal_by_stream", "stream", "seq"),
    Index("journal_by_session", "session_id", "stream", "seq"),
    Index("journal_by_owner", "owner", "stream", "seq"),
    Index("journal_by_ability", "ability_id", "stream", "seq", **_OF_ABILITY),
    # A number is never given twice, even after the newest entries were archived.
    sqlite_autoincrement=True,
)

journal_heads = Table(
    "journal_heads",
    metadata,
    Column("aggregate", Text, primary_key=True),
    Column("aggregate_seq", Integer, nullable=False),
    Column("hash", Text, nullable=False),
)

journal_anchors = Table(
    "journal_anchors",
    metadata,
    Column("anchor_id", Integer, primary_key=True, autoincrement=True),
    Column("upto_seq", Sequence64, nullable=False),
    Column("heads_hash", Text, nullable=False),
    Column("prev_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("created_at", Text, nullable=False),
)

projection_offsets = Table(
    "projection_offsets",
    metadata,
    Column("stream", Text, primary_key=True),
    Column("seq", Sequence64, nullable=False),
    Column("size_bytes", Sequence64, nullable=False),
)

stream_archives = Table(
    "stream_archives",
    metadata,
    Column("stream", Text, primary_key=True),
    Column("archive", Text, primary_key=True),
    Column("upto_seq", Sequence64, nullable=False),
    Column("created_at", Text, nullable=False),
)

access_tokens = Table(
    "access_tokens",
    metadata,
    Column("token_id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("user_id", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
    Column("revoked_at", Text),
)

maintenance_runs = Table(
    "maintenance_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

categories = Table(
    "categories",
    metadata,
    Column("category_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("title_key", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("owner", "title_key", name="one_title_an_owner"),
)

category_items = Table(
    "category_items",
    metadata,
    Column("category_id", Text, ForeignKey("categories.category_id", ondelete="CASCADE"), primary_key=True),
    Column("item_kind", Text, primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("assigned_at", Text, nullable=False),
)
Index("category_items_by_item", category_items.c.item_kind, category_items.c.item_id)

# The registry of observation adapters: what each user's recorders last reported of themselves.
observation_adapters = Table(
    "observation_adapters",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("last_seen_at", Text, nullable=False),
    Column("last_error_code", Text),
)

# The life of installed abilities: what each version holds, and what is kept beside the entry.
ability_contents = Table(
    "ability_contents",
    metadata,
    Column("ability_id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
)

ability_lives = Table(
    "ability_lives",
    metadata,
    Column("ability_id", Text, primary_key=True),
    Column("change", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

# The evidence behind a capability's health, one record an install: the capability's own row has the verdict.
capability_health = Table(
    "capability_health",
    metadata,
    Column("capability_id", Text, primary_key=True),
    Column("installed_at", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

# Skill mining: what each person allows, what was found in their captures, and the runs that looked.
mining_settings = Table(
    "mining_settings",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

mining_candidates = Table(
    "mining_candidates",
    metadata,
    Column("candidate_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("mining_candidates_by_owner", "owner", "candidate_id"),
)

mining_runs = Table(
    "mining_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("owner", Text),
    Column("started_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

configurations = Table(
    "configurations",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("capability_id", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

configuration_intents = Table(
    "configuration_intents",
    metadata,
    Column("intent_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("answer", Text, nullable=False),
)

# Values encrypted under a key of this installation; other rows refer to them by ``ref``.
secrets = Table(
    "secrets",
    metadata,
    Column("ref", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("expires_at", Text),
    Column("updated_at", Text, nullable=False),
    Index("secrets_by_key", "key_id"),
)

# What is kept for days only: uploaded documents, what was found in them, folders that methods are tried on. The content
# is a blob, the row its owner and expiry.
temporary_artifacts = Table(
    "temporary_artifacts",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("size_bytes", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Index("temporary_artifacts_by_age", "expires_at"),
    Index("temporary_artifacts_by_digest", "digest"),
)

# Trials of abilities on other folders; the folders are temporary artifacts.
ability_trials = Table(
    "ability_trials",
    metadata,
    Column("trial_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False, index=True),
    Column("body", Text, nullable=False),
    Index("ability_trials_by_owner", "owner", "state"),
)

# Derived from what abilities say of themselves, and made again where a row is missing or its digest is another.
ability_vectors = Table(
    "ability_vectors",
    metadata,
    Column("ability_id", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("vectors", LargeBinary, nullable=False),
)
