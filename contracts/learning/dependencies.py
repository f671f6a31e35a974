"""What a person says that a skill rests on (DOC3 §0A.25, §0C.10A)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text200

MAX_DEPENDENCIES = 20
"""The most documents that one skill may be said to rest on."""


class DependencyKind(StrEnum):
    """What a proposal can rest on."""

    SUPPORT_PACK = "support_pack"
    APP_MANUAL = "app_manual"
    EXISTING_SKILL = "existing_skill"
    CAPABILITY_MANIFEST = "capability_manifest"
    TEST_ARTIFACT = "test_artifact"


class DeclaredDependency(Contract):
    """A document that a person said the skill rests on; nothing looks whether it is there."""

    dependency_kind: DependencyKind
    dependency_ref: Text200 = Field(description="Its name, path or address; never a secret.")
    required: bool = True
