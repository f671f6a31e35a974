"""The model of an executable skill: what it takes, gives, may touch, costs, and how it is run.

One model for the four documents: Amber's handler contract (seed 000 L69-139), the typed skills of 002 (L7-28), the
ontology fields and tools of 003 (L26-128). A folder holds it as ``manifest.json``, or as ``metadata.amber`` in the
frontmatter of its SKILL.md.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from contracts.base import Contract, Text80, Text120, Text200, Text240, Text500, Text1000, UtcTime
from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SkillErrorRule

SKILL_NAME = r"^[a-z0-9][a-z0-9-]{1,63}$"
"""Folder and SKILL.md name (X-33); a function name is the same with underscores."""

SkillName = Annotated[str, StringConstraints(pattern=SKILL_NAME)]
FunctionName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]{1,63}$")]
SemanticVersion = Annotated[
    str, StringConstraints(pattern=r"^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$")
]

MAX_TIMEOUT_MS = 300_000
"""The longest that one attempt of a skill may take."""

RESERVED_FUNCTIONS = frozenset({"ask_openclaw"})
"""Functions that exist beside the skills, and that none may replace (000 L428-434)."""


class SafetyLevel(StrEnum):
    """How much harm a skill can do (003 L110)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    PRIVILEGED = "privileged"


class SkillCategory(StrEnum):
    """What a skill is about (003 L17-24, L203)."""

    CONVERSATION = "conversation"
    MEMORY = "memory"
    SOCIAL = "social"
    EXTERNAL = "external"
    REFLECTION = "reflection"


class SkillBackend(StrEnum):
    """What runs a tool of a skill (003 L119)."""

    PYTHON = "python"
    NODE = "node"
    OS_COMMAND = "os_command"
    HTTP = "http"


class RuntimeContext(StrEnum):
    """Where a tool runs (003 L121)."""

    BACKEND_SERVICE = "backend_service"
    LOCAL_CLIENT = "local_client"
    THIRD_PARTY = "third_party"


class BrokerService(StrEnum):
    """The services that own what lasts: one writer, one permission each (X-7)."""

    CALENDAR = "calendar"
    OUTBOX = "outbox"
    LEDGER = "ledger"
    PROFILES = "profiles"
    AUDIT = "audit"
    MEMORY = "memory"
    FEEDS = "feeds"
    MODEL = "model"
    MEDIA = "media"
    PUBLISHER = "publisher"
    DIRECTORY = "directory"
    VOICE = "voice"
    IDENTITY = "identity"
    INBOX = "inbox"


class SkillPermissions(Contract):
    """What a handler may reach; everything else is closed by the operating system (000 L10-16, L127-132).

    ``local_binaries`` are bare names or absolute paths of the programs that ``context.exec`` may start; ``hosts`` are
    the names that an ``http`` tool may call. ``telegram`` allows ``gateway.send_message``, ``openclaw_action``
    allows ``gateway.post``.
    """

    local_binaries: tuple[Text200, ...] = Field(default=(), max_length=20)
    hosts: tuple[Text200, ...] = Field(default=(), max_length=20)
    services: tuple[BrokerService, ...] = Field(default=(), max_length=20)
    network: bool = False
    telegram: bool = False
    openclaw_action: bool = False


class ResourceProfile(Contract):
    """The most that one run of a tool may take."""

    cpu_seconds: int = Field(default=30, ge=1, le=300)
    memory_mb: int = Field(default=512, ge=64, le=4096)
    disk_mb: int = Field(default=64, ge=1, le=1024)
    latency_class: Literal["interactive", "background"] = "interactive"


class CommandMapping(Contract):
    """How the input becomes the arguments of a program: ``{name}`` stands for a whole field of the input."""

    argv: tuple[Text500, ...] = Field(min_length=1, max_length=60)
    answer: Literal["text", "json"] = "text"


class HttpMapping(Contract):
    """How the input becomes a request: fields of the query and of the JSON body; ``{name}`` in the address."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    query: tuple[Text120, ...] = ()
    body: tuple[Text120, ...] | None = Field(default=None, description="None sends the whole input.")
    idempotency_header: Text80 | None = None


class ToolRecord(Contract):
    """The implementation of a skill; it takes the skill's normalised input and has no parameters of its own.

    003 L114-128. ``entrypoint`` is a file of the folder (python, node), a declared binary, or an address.
    """

    tool_id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{1,119}$")]
    backend: SkillBackend
    entrypoint: Text1000
    runtime_context: RuntimeContext = RuntimeContext.BACKEND_SERVICE
    auth_profile: Text120 | None = None
    resources: ResourceProfile = Field(default_factory=ResourceProfile)
    allowed_env: tuple[Literal["dev", "test", "production"], ...] = ("dev", "test", "production")
    command: CommandMapping | None = None
    http: HttpMapping | None = None

    @model_validator(mode="after")
    def _has_its_mapping(self) -> Self:
        if (self.command is not None) != (self.backend is SkillBackend.OS_COMMAND):
            raise ValueError("command belongs to a tool of backend os_command, which needs it")
        if (self.http is not None) and self.backend is not SkillBackend.HTTP:
            raise ValueError("http belongs to a tool of backend http")
        if self.runtime_context is RuntimeContext.THIRD_PARTY and self.auth_profile is None:
            raise ValueError("a tool of a third party needs an auth_profile (003 L161-169)")
        return self


class ActionRule(Contract):
    """What holds for calls whose input has these values or fields: a look-up reads, a creation writes and asks (X-8).

    ``when`` names fields with the values they may have, ``present`` fields that are given at all (X-27); a field
    inside another is ``outer.inner``. A rule fits a call that has all of it.
    """

    when: dict[str, tuple[str | int | bool, ...]] = Field(default_factory=dict, max_length=5)
    present: tuple[Text120, ...] = Field(default=(), max_length=5)
    effect: ToolEffect
    confirmation_required: bool

    @model_validator(mode="after")
    def _names_a_field(self) -> Self:
        if not self.when and not self.present:
            raise ValueError("an action is told by when or present")
        return self


class ExpectedEffect(Contract):
    """A change that a successful call makes, checked in its outputs (003 L64-73, L95)."""

    name: Text120
    description: Text240 = ""
    shown_by: Text120 | None = Field(
        default=None, description="The field of the outputs that is true, or not empty, when it happened."
    )


class Precondition(Contract):
    """What has to be true before a call (003 L64-73): an entity, a life area, or a state of the user."""

    name: Text120
    description: Text240 = ""
    service: BrokerService | None = Field(default=None, description="A service that has to be configured.")
    fact: Text240 | None = Field(
        default=None, description="subject predicate, of a fact that has to be known."
    )


def _as_time(value: object) -> object:
    # JSON has times as texts, which strict reading refuses.
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


class SkillManifest(Contract):
    """A skill, whichever way its folder writes it down."""

    name: SkillName
    function_name: FunctionName
    version: SemanticVersion
    description: Text1000
    function_description: Text1000 | None = Field(
        default=None, description="What models are told of the function, where it is not the description."
    )
    trigger_phrases: tuple[Text120, ...] = Field(
        default=(),
        max_length=12,
        description="What people say who want it, in their words; it is found by them.",
    )
    category: SkillCategory = SkillCategory.EXTERNAL
    agent_roles: tuple[Text80, ...] = ()
    capabilities: tuple[Literal["read", "act"], ...] = Field(min_length=1, max_length=2)
    effect: ToolEffect = Field(description="Of a call for which no action rule says otherwise.")
    actions: tuple[ActionRule, ...] = Field(default=(), max_length=20)
    confirmation_required: bool
    confirmation_prompt: Text500 | None = None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = Field(default_factory=dict)
    input_schema_id: Text200
    output_schema_id: Text200
    input_errors: dict[str, str] = Field(
        default_factory=dict, description="Field of the input → the code when it is what is wrong."
    )
    multiline: tuple[Text120, ...] = Field(default=(), description="Fields that keep their line ends (O-9).")
    side_effect_tags: tuple[Text80, ...] = ()
    safety_level: SafetyLevel
    life_areas: tuple[Text80, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    effects: tuple[ExpectedEffect, ...] = ()
    observables: tuple[Text120, ...] = ()
    leaves_device: bool = False
    third_parties: tuple[Text200, ...] = ()
    timeout_ms: int = Field(ge=100, le=MAX_TIMEOUT_MS, description="Of one attempt (X-19).")
    max_attempts: int = Field(default=1, ge=1, le=10, description="In all, the first included (X-18).")
    errors: dict[str, SkillErrorRule] = Field(default_factory=dict)
    cache_ttl_ms: int = Field(default=0, ge=0, le=86_400_000)
    cache_keys: tuple[Text120, ...] | None = Field(
        default=None, description="The fields of the input that a cached answer depends on; none means all."
    )
    drops_cache_of: tuple[SkillName, ...] = Field(
        default=(), description="Skills whose answers it makes old (X-26)."
    )
    repeatable: bool = Field(
        default=False,
        description="An attempt may be repeated although it may have had its effect: the far side knows its key.",
    )
    key_field: Text120 | None = Field(
        default=None, description="The field of the input that is its idempotency key."
    )
    has_check: bool = Field(
        default=False, description="The handler has `check`, asked before a person is (O-7)."
    )
    required_isolation: Literal["any", "namespaces"] = "any"
    permissions: SkillPermissions = Field(default_factory=SkillPermissions)
    tools: tuple[ToolRecord, ...] = Field(min_length=1, max_length=10)
    deprecated_since: Annotated[UtcTime, BeforeValidator(_as_time)] | None = None

    @property
    def acts(self) -> bool:
        """Whether it can do more than read."""
        return "act" in self.capabilities
