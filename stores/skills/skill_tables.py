"""The tables of executable skills: catalog, invocations, kept answers, policy; and their documents."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text, UniqueConstraint

from contracts.errors import ErrorCode
from contracts.skills.agents import AgentRecord
from contracts.skills.catalog import SkillRecord
from contracts.skills.health import SkillHealth
from contracts.skills.invocation_work import InvocationRecord
from contracts.skills.manifest import SkillManifest
from contracts.skills.messages import OperatorMessage
from contracts.skills.policy import SkillPolicy
from contracts.skills.publishing import ApprovalRecord, PublicationRecord
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

# One row for each folder and version that was found; which folder answers to a name follows from its state.
skills = Table(
    "skills",
    metadata,
    Column("key", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("function_name", Text),
    Column("state", Text, nullable=False),
    Column("digest", Text),
    Column("seen_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skills_by_name", "name"),
    Index("skills_by_function", "function_name"),
)

# The manifests that were ever ready, so that a changed folder is compared with what it was (CH-65).
skill_manifests = Table(
    "skill_manifests",
    metadata,
    Column("key", Text, primary_key=True),
    Column("root", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_manifests_by_name", "root", "name"),
)

skill_invocations = Table(
    "skill_invocations",
    metadata,
    Column("invocation_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("skill", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("completed_at", Text),
    Column("body", Text, nullable=False),
    Index("skill_invocations_by_owner", "owner", "created_at", "invocation_id"),
    Index("skill_invocations_by_status", "status", "created_at"),
    Index("skill_invocations_by_skill", "owner", "skill", "created_at"),
)

# Answers that may be given again until they are too old; a write drops those that it makes wrong.
skill_results = Table(
    "skill_results",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("cache_key", Text, primary_key=True),
    Column("skill", Text, nullable=False),
    Column("invocation_id", Text, nullable=False),
    Column("outcome_digest", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Index("skill_results_by_skill", "owner", "skill"),
    Index("skill_results_by_age", "expires_at"),
)

skill_policies = Table(
    "skill_policies",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

# One row for each folder against which a run of it speaks.
skill_health = Table(
    "skill_health",
    metadata,
    Column("key", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_health_by_name", "name"),
)

# One row for each count of a skill, so that a call changes a handful of rows with one statement.
skill_counts = Table(
    "skill_counts",
    metadata,
    Column("function_name", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# Balances and amounts are integers of the smallest unit as text: 64 bits hold no 10 ETH.
wallets = Table(
    "skill_wallets",
    metadata,
    Column("address", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("network", Text, nullable=False),
    Column("balance", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("skill_wallets_by_owner", "owner", "address"),
)

ledger_entries = Table(
    "skill_ledger_entries",
    metadata,
    Column("tx_id", Text, primary_key=True),
    Column("address", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("body", Text, nullable=False),
    # The skill that spent it, where its allowance was asked.
    Column("skill", Text),
    Column("booked_at", Text),
    UniqueConstraint("owner", "key", name="booked_once"),
    Index("skill_ledger_entries_by_skill", "owner", "skill", "booked_at"),
    Index("skill_ledger_entries_by_wallet", "address", "tx_id"),
)

ledger_postings = Table(
    "skill_ledger_postings",
    metadata,
    Column("tx_id", Text, primary_key=True),
    Column("account", Text, primary_key=True),
    Column("amount", Text, nullable=False),
    Index("skill_ledger_postings_by_account", "account"),
)

agents = Table(
    "skill_agents",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_agents_by_owner", "owner", "created_at", "agent_id"),
)

feed_requests = Table(
    "skill_feed_requests",
    metadata,
    Column("request_id", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("at", Text, nullable=False),
    Index("skill_feed_requests_by_source", "source", "at"),
    Index("skill_feed_requests_by_age", "at"),
)

# Messages to the operator; a key is written once, however often its invocation is made again.
skill_messages = Table(
    "skill_messages",
    metadata,
    Column("message_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("key", name="message_written_once"),
    Index("skill_messages_by_state", "state", "created_at"),
)

approvals = Table(
    "skill_approvals",
    metadata,
    Column("jti", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("body", Text, nullable=False),
)

publications = Table(
    "skill_publications",
    metadata,
    Column("jti", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("skill_publications_by_content", "owner", "digest", "platform"),
    Index("skill_publications_by_age", "owner", "created_at"),
)

SKILLS = DocumentTable(
    skills,
    SkillRecord,
    lambda one: {"function_name": one.manifest.function_name if one.manifest is not None else None},
    code=ErrorCode.SKILL_NOT_FOUND,
    message="There is no such skill; list them: GET /api/skills.",
    fixed=(),
)

INVOCATIONS = DocumentTable(
    skill_invocations,
    InvocationRecord,
    fields={
        "owner": "order.owner_user_id",
        "skill": "order.skill",
        "created_at": "order.created_at",
    },
    code=ErrorCode.SKILL_INVOCATION_NOT_FOUND,
    message="There is no such invocation of yours.",
    conflict="The invocation has changed meanwhile; read it again.",
)

MANIFESTS = DocumentTable(skill_manifests, SkillManifest)

HEALTH = DocumentTable(skill_health, SkillHealth)

POLICIES = DocumentTable(
    skill_policies, SkillPolicy, conflict="The rules have changed meanwhile; read them again."
)

AGENTS = DocumentTable(agents, AgentRecord)

MESSAGES = DocumentTable(
    skill_messages,
    OperatorMessage,
    fields={"owner": "owner_user_id"},
    message="There is no such message of yours.",
    fixed=("owner", "created_at", "key"),
)

APPROVALS = DocumentTable(approvals, ApprovalRecord)

PUBLICATIONS = DocumentTable(publications, PublicationRecord)
