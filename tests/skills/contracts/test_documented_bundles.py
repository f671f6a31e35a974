"""What two of the documents say of their skills as a set: Story 5.4's two tools, AICO's ten skills."""

import ast
import inspect
import runpy
import sys
from pathlib import Path

import pytest

import skills
from contracts.skills.manifest import SkillCategory, SkillManifest
from skills.runtime.folder_digest import read_folder
from skills.runtime.skill_reading import read_skill

BUNDLED = Path(*skills.__path__) / "bundled"

STORY_TOOLS = ("place-call", "link-identity")
AICO_SKILLS = {
    "send-message-to-user": SkillCategory.CONVERSATION,
    "summarise-conversation-segment": SkillCategory.CONVERSATION,
    "ask-clarifying-question": SkillCategory.CONVERSATION,
    "store-memory-item": SkillCategory.MEMORY,
    "query-relevant-memories": SkillCategory.MEMORY,
    "upsert-world-fact": SkillCategory.MEMORY,
    "schedule-check-in": SkillCategory.SOCIAL,
    "log-social-event": SkillCategory.SOCIAL,
    "generate-reflection": SkillCategory.REFLECTION,
    "propose-small-adjustments": SkillCategory.REFLECTION,
}


def _manifest(name: str) -> SkillManifest:
    return read_skill(name, read_folder(BUNDLED / name))[0]


@pytest.mark.acceptance("OC-22", "OC-23")
@pytest.mark.parametrize("name", STORY_TOOLS)
def test_a_tool_of_the_story_is_one_asynchronous_handler_with_a_schema_and_no_package_of_its_own(
    name: str,
) -> None:
    manifest = _manifest(name)
    assert manifest.function_name == name.replace("-", "_")
    assert manifest.input_schema["required"]
    (tool,) = manifest.tools
    handler = BUNDLED / name / tool.entrypoint
    assert inspect.iscoroutinefunction(runpy.run_path(str(handler))["handle"])
    for node in ast.walk(ast.parse(handler.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert all(one.name.split(".")[0] in sys.stdlib_module_names for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in sys.stdlib_module_names


@pytest.mark.acceptance("AI-40", "AI-04")
@pytest.mark.parametrize(("name", "category"), AICO_SKILLS.items())
@pytest.mark.acceptance("O-14")
def test_each_of_the_ten_skills_is_one_tool_that_is_there_with_schemas(
    name: str, category: SkillCategory
) -> None:
    manifest = _manifest(name)
    assert manifest.category is category
    (tool,) = manifest.tools
    assert (BUNDLED / name / tool.entrypoint).is_file()
    assert manifest.input_schema["type"] == "object"
    assert manifest.output_schema["type"] == "object"


@pytest.mark.thorough
@pytest.mark.acceptance("AI-02")
def test_a_handler_is_run_by_the_attempts_of_an_invocation_alone() -> None:
    # The gate starts the workflow, the workflow asks for attempts; nobody else reaches what runs a handler.
    root = BUNDLED.parent.parent
    own = (
        "api",
        "cli",
        "gateways",
        "workflows",
        "activities",
        "stores",
        "worker",
        "clients",
        "skills",
        "host",
    )
    users = {
        str(file.relative_to(root))
        for folder in own
        for file in (root / folder).rglob("*.py")
        if _imports_the_runner(file)
    }
    assert users == {"activities/skills/skill_runs.py"}


def _imports_the_runner(file: Path) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "skills.runtime.runner"
        and "run_skill" in {one.name for one in node.names}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
