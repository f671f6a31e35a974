"""Registering skills and tools at run time (003 L134-139, X-4): a description without code, and never an approval."""

from typing import Any

from pydantic import Field

from contracts.base import Contract, Text80, Text120, Text500, UtcTime, VersionedContract
from contracts.platform.commands import Command
from contracts.skills.catalog import CatalogCommand, SkillEntry
from contracts.skills.manifest import SkillName, ToolRecord


class RegisterToolRequest(Command):
    """Adds or updates a tool: a program of this machine, or an address, that skills name by its ``tool_id``."""

    tool: ToolRecord


class RegisterToolResponse(VersionedContract):
    """The tool as it is kept.

    ``used_by`` are the skills with an earlier form of it: they keep that until they are registered and approved again.
    """

    tool: ToolRecord
    tool_version: int = Field(ge=1)
    used_by: tuple[Text80, ...] = ()


class RegisterSkillRequest(Command):
    """Adds or updates a skill whose tools are registered. It is not run before a person has approved it.

    ``manifest`` has the fields of a ``manifest.json`` but ``tools`` and the permissions that follow from them. A schema
    may be left out where its id is that of a skill in the catalog.
    """

    name: SkillName
    manifest: dict[str, Any] = Field(max_length=60)
    tools: tuple[Text120, ...] = Field(min_length=1, max_length=10, description="Their tool_id.")
    documentation: str = Field(default="", max_length=20_000, description="The body of its SKILL.md.")


class RegisterSkillResponse(VersionedContract):
    """The skill as it is listed now, and the digest that is to be approved."""

    skill: SkillEntry
    next_action: Text500


class RegisterTool(CatalogCommand):
    """Adds or updates a tool."""

    tool: ToolRecord


class RegisterSkill(CatalogCommand):
    """Adds or updates a skill."""

    name: SkillName
    manifest: dict[str, Any]
    tools: tuple[Text120, ...]
    documentation: str = ""


class RegisteredTool(Contract):
    """A tool as it is kept."""

    tool: ToolRecord
    tool_version: int = Field(ge=1)
    registered_by: Text120
    registered_at: UtcTime
