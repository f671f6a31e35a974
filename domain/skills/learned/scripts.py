"""Scripts of learned abilities as skills: their manifest, and the command that runs one (X-35, DOC3 §0C.9A).

Of an ability only what a person wrote and ran is run, never its workflow graph, and never without a person's word.
"""

import posixpath
import shlex
import signal
from collections.abc import Collection, Sequence

from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SkillErrorRule
from contracts.skills.manifest import CommandMapping, SafetyLevel, SkillBackend, SkillManifest, ToolRecord

SCRIPT_FAILED = "SCRIPT_FAILED"
"""The script ended by itself with another status than 0: the folder or the arguments are as likely the cause."""

_BY_SIGNAL = 128
_CRASHES = frozenset(
    _BY_SIGNAL + number
    for number in (
        signal.SIGILL,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGXCPU,
        signal.SIGXFSZ,
    )
)
"""The statuses with which a shell reports that its program crashed, or was ended at a limit of the sandbox."""

MOST_SECONDS = 120
"""The longest that a script may run."""

MOST_ARGUMENTS, LONGEST_ARGUMENT = 50, 400
MOST_CHANGES_SHOWN = 100
MOST_OUTPUT_CHARS = 4_000

_INTERPRETERS = {".py": "python3", ".rb": "ruby", ".pl": "perl", ".js": "node", ".awk": "awk -f"}


def learned_manifest(slug: str, version: int, scripts: Collection[str]) -> SkillManifest:
    """The skill that stands for the scripts of an ability: it works on a copy of a folder, and always asks first."""
    argument = {"type": "string", "maxLength": LONGEST_ARGUMENT}
    return SkillManifest(
        name=slug,
        function_name=slug.replace("-", "_"),
        version=f"{version}.0.0",
        description="Runs a script of a learned ability on a copy of a folder, in a sandbox without a network.",
        capabilities=("act",),
        effect=ToolEffect.CREATE,
        confirmation_required=True,
        confirmation_prompt="Run this script, which a person wrote while it was taught, on a copy of the folder?",
        input_schema={
            "type": "object",
            "properties": {
                "script": {"type": "string", "enum": sorted(scripts)},
                "arguments": {"type": "array", "items": argument, "maxItems": MOST_ARGUMENTS, "default": []},
                "folder": {"type": "string", "pattern": "^trial-folder/[0-9a-f]{64}$"},
            },
            "required": ["script"],
            "additionalProperties": False,
        },
        input_schema_id="learned-script.input",
        output_schema_id="learned-script.output",
        side_effect_tags=("writes_files",),
        safety_level=SafetyLevel.MEDIUM,
        timeout_ms=MOST_SECONDS * 1_000,
        # Nothing but a copy is written: a run that was lost with its worker is made again, once.
        repeatable=True,
        max_attempts=2,
        errors={
            SCRIPT_FAILED: SkillErrorRule(
                http_status=500,
                recovery="Read its output, mend the folder or the arguments, and run it again.",
            ),
            # One that hung hangs again.
            "TIMEOUT": SkillErrorRule(http_status=504, recovery="Try a smaller folder, or teach it again."),
        },
        tools=(
            ToolRecord(
                tool_id="learned.script",
                backend=SkillBackend.OS_COMMAND,
                entrypoint="scripts",
                command=CommandMapping(argv=("{script}",)),
            ),
        ),
    )


def command_of(path: str, text: str, arguments: Sequence[str]) -> str:
    """The shell line that runs a script at a path; an argument is one word whatever is in it."""
    suffix = posixpath.splitext(path)[1]
    started = f"./{shlex.quote(path)}" if text.startswith("#!") else None
    program = started or f"{_INTERPRETERS.get(suffix, 'bash')} {shlex.quote(path)}"
    return " ".join((program, *map(shlex.quote, arguments)))


def failure_of(status: int | None, *, timed_out: bool) -> str:
    """The code of a script that did not work: the codes of skills for what is its own fault (ADR 42, ADR 72).

    ``status`` is its exit status; none where it did not end by itself.
    """
    if timed_out:
        return "TIMEOUT"
    return "HANDLER_FAILED" if status is None or status in _CRASHES else SCRIPT_FAILED
