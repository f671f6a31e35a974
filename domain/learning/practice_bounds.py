"""The bounds of a model's plans: what is looked at before a suggestion is anything more than text.

The list of allowed commands, the test policy and the sandbox hold whatever runs; here a plan is dropped that would
only use up an attempt, would reach beyond its folder, or would write down the result that it is to work out.
"""

import re

from contracts.learning.practice import PracticeCondition, StartPracticeRequest
from contracts.learning.practice_model import PracticePlan, PracticePlans
from domain.learning.command_line import names_outside_path
from domain.learning.command_safety import destructive_reason, external_send_reason, holds_masked_secret
from domain.learning.practice_commands import AllowedCommands
from domain.learning.redaction import redact

RESULT_CHARS = 4
"""A line of a wanted text is known again from this length on: shorter ones occur in honest commands."""

_SINGLE_QUOTED = re.compile(r"'[^']*'")
_UNSEEN = re.compile(r"[$`]")
_STARTS_ANOTHER = re.compile(
    r"(?<!\S)--(?:compress-prog\w*|use-compress-\w+|to-command|checkpoint-action|rsh-command|filter|exec\w*)\b"
    r"|(?<!\S)-(?:exec|execdir|ok|okdir)\b"
    r"|(?<!\S)(?:PATH|LD_\w+|BASH_ENV|ENV|IFS|PYTHON\w*|PERL5\w*|RUBY\w*|NODE_\w+)="
)


def plans_within(plans: PracticePlans, request: StartPracticeRequest) -> tuple[tuple[PracticePlan, ...], str]:
    """The plans within bounds, each once, and what is wrong with the first that is not.

    The reason names the plan, the command and the rule; a model's answer is repeated nowhere.
    """
    allowed = AllowedCommands(request.allowed_commands)
    results = _results(request)
    kept: dict[PracticePlan, None] = {}
    first = ""
    for number, plan in enumerate(plans.plans, 1):
        problems = (
            f"command {position} of plan {number} {problem}"
            for position, command in enumerate(plan.commands, 1)
            if (problem := _problem(command, allowed, results))
        )
        if found := next(problems, None):
            first = first or found
        else:
            kept[plan] = None
    return tuple(kept), first


def _problem(command: str, allowed: AllowedCommands, results: tuple[str, ...]) -> str | None:
    if not command.isprintable():
        return "is more than one line of text"
    if redact(command).masked_count or holds_masked_secret(command):
        return "holds a secret"
    if not allowed.permits(command):
        return "is not on the list of allowed commands"
    if destructive_reason(command) or external_send_reason(command):
        return "destroys something or reaches out over a network"
    if names_outside_path(command) or "../" in command:
        return "names a place outside the practice folder"
    if _UNSEEN.search(_SINGLE_QUOTED.sub("''", command)):
        return "depends on a value that cannot be seen in it"
    if _STARTS_ANOTHER.search(command):
        return "could start another program"
    return "writes down the result instead of working it out" if any(r in command for r in results) else None


def _results(request: StartPracticeRequest) -> tuple[str, ...]:
    """Lines that a wanted file is to hold and that nobody told the agent to write."""
    lines = (line.strip() for condition in request.success_conditions for line in _lines(condition))
    return tuple(line for line in lines if len(line) >= RESULT_CHARS and line not in request.goal)


def _lines(condition: PracticeCondition) -> list[str]:
    return (condition.text or "").splitlines()
