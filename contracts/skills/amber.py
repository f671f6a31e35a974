"""The manifest of an Amber skill: ``metadata.amber`` in the front matter of its SKILL.md (000 L69-139)."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from contracts.base import Contract, Text200, Text500, Text1000
from contracts.skills.manifest import MAX_TIMEOUT_MS, FunctionName


class AmberPermissions(Contract):
    """What an Amber handler may reach; what is left out is closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    local_binaries: tuple[Text200, ...] = Field(default=(), max_length=20)
    telegram: bool = False
    openclaw_action: bool = False
    network: bool = False


class AmberFunction(Contract):
    """The function as models call it; ``parameters`` is a JSON schema of an object."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: FunctionName
    description: Text1000 = ""
    parameters: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": dict[str, Any]()}
    )


class AmberManifest(Contract):
    """What an Amber skill says of itself. ``confirmation_required`` left out means yes for one that acts (000 L204)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    capabilities: tuple[Literal["read", "act"], ...] = Field(min_length=1, max_length=2)
    confirmation_required: bool | None = None
    confirmation_prompt: Text500 | None = None
    timeout_ms: int = Field(ge=100, le=MAX_TIMEOUT_MS)
    max_attempts: int = Field(default=1, ge=1, le=10)
    permissions: AmberPermissions = Field(default_factory=AmberPermissions)
    function_schema: AmberFunction
