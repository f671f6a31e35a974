"""Dry run: checks a drafted skill without running it: its files, requirements, and whether its name is free."""

import json
import shutil
import subprocess
from collections.abc import Iterable

from pydantic import ValidationError

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.errors import Refusal
from contracts.learning.proposal import SkillDraft
from contracts.learning.validation import StepResult
from contracts.plain_problems import problem_sentence
from domain.learning.commands.command_safety import programs_used
from domain.learning.drafting.skill_markdown import parse_frontmatter
from skills.rehearsal.report import CheckReport, CheckStep

SYNTAX_CHECK_SECONDS = 10


def dry_run(draft: SkillDraft) -> CheckReport:
    """Parses every drafted file as its consumer will, and every taught command as the shell will."""
    files = {file.path: file.content for file in draft.files}
    steps = [
        _step("dry_run/skill-md", "SKILL.md has valid frontmatter", _frontmatter_problem(draft, files)),
        _step(
            "dry_run/manifest",
            "The capability manifest is valid",
            _manifest_problem(files.get(f"capabilities/{draft.capability_id}.json")),
        ),
        _step("dry_run/paths", "Files stay inside the skill folder", _path_problem(files)),
    ]
    steps.extend(
        _step(
            f"dry_run/command-{number:02d}",
            f"Taught command {number} is valid shell",
            _syntax_problem(command.command),
        )
        for number, command in enumerate(draft.taught_commands, start=1)
    )
    return CheckReport(steps=tuple(steps))


def _step(test_case_id: str, label: str, problem: str | None) -> CheckStep:
    result = StepResult.FAILED if problem else StepResult.PASSED
    return CheckStep(test_case_id, label, result, problem[:1000] if problem else None)


def _frontmatter_problem(draft: SkillDraft, files: dict[str, str]) -> str | None:
    try:
        frontmatter = parse_frontmatter(files["SKILL.md"])
    except KeyError:
        return "The draft has no SKILL.md."
    except (Refusal, ValueError) as error:
        return str(error)
    if frontmatter.get("name") != draft.slug:
        return f"name is {frontmatter.get('name')!r} but the folder is {draft.slug!r}."
    description = frontmatter.get("description")
    if not isinstance(description, str) or not 1 <= len(description) <= 1024:
        return "description must have 1 to 1,024 characters."
    return None


def _manifest_problem(content: str | None) -> str | None:
    if content is None:
        return "The draft has no capability manifest."
    try:
        CapabilityManifest.model_validate(json.loads(content))
    except ValidationError as error:
        return problem_sentence(error, whole="the manifest")
    except ValueError as error:
        return str(error)
    return None


def _path_problem(files: dict[str, str]) -> str | None:
    outside = [path for path in files if path.startswith("/") or ".." in path.split("/")]
    return f"These paths leave the skill folder: {', '.join(outside)}" if outside else None


def _syntax_problem(command: str) -> str | None:
    """``bash -n`` reads a command without running it."""
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-n", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        timeout=SYNTAX_CHECK_SECONDS,
        check=False,
    )
    return done.stderr.strip()[:500] or "not valid shell" if done.returncode else None


SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are looked for: the path a rehearsal has."""


NAME_CASE = "dependency_check/name"
"""The case that looks whether the skill's name collides with another's."""


def check_dependencies(draft: SkillDraft, *, slug_owner: str | None, owner: str) -> CheckReport:
    """Looks up each program the taught commands call, and whether the skill's name is free for ``owner``."""
    steps = [_program(name) for name in draft.dependencies]
    steps.append(_name(draft.slug, slug_owner, owner))
    return CheckReport(steps=tuple(steps))


def missing_programs(commands: Iterable[str]) -> tuple[str, ...]:
    """The programs that the commands call and a rehearsal does not find."""
    return tuple(name for name in programs_used(commands) if not is_installed(name))


def is_installed(program: str) -> bool:
    """Whether a rehearsal finds the program."""
    return shutil.which(program, path=SANDBOX_PATH) is not None


def _program(name: str) -> CheckStep:
    found = is_installed(name)
    return CheckStep(
        test_case_id=f"dependency_check/{name}"[:160],
        label=f"The program {name} is installed"[:240],
        result=StepResult.PASSED if found else StepResult.FAILED,
        details=None if found else f"Install {name}, or teach the task with a program that is there.",
    )


def _name(slug: str, slug_owner: str | None, owner: str) -> CheckStep:
    free = slug_owner is None or slug_owner == owner
    return CheckStep(
        test_case_id=NAME_CASE,
        label=f"The skill name {slug} can be used"[:240],
        result=StepResult.PASSED if free else StepResult.FAILED,
        details=None if free else "It is not free; revise proposed_skill_slug.",
    )
