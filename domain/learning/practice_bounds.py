"""The bounds of a model's plans: what is looked at before a suggestion is anything more than text.

The list of allowed commands, the test policy and the sandbox hold whatever runs; here a plan is dropped that would
only use up an attempt, would reach beyond its folder, or would write down the result that it is to work out.
"""

import re
from collections.abc import Sequence

from contracts.learning.practice import PracticeCondition, StartPracticeRequest
from contracts.learning.practice_model import PracticePlan, PracticePlans
from domain.learning.command_safety import destructive_reason, external_send_reason, holds_masked_secret
from domain.learning.practice_commands import AllowedCommands
from domain.learning.redaction import redact
from domain.learning.shell_calls import Call, calls_in, name_set

RESULT_CHARS = 4
"""A line of a wanted text is known again from this length on: shorter ones occur in honest commands."""

_SINGLE_QUOTED = re.compile(r"'[^']*'")
_UNSEEN = re.compile(r"[$`]")
_TELLS_TO_START = re.compile(
    r"--(?:compress-prog\w*|use-compress-\w+|to-command|checkpoint-action|rsh-command|filter|exec\w*)(?:=|$)"
)
_STEERS_THE_START = re.compile(
    r"(?<!\S)(?:PATH|LD_\w+|BASH_ENV|ENV|IFS|PYTHON\w*|PERL5\w*|RUBY\w*|NODE_\w+)="
)
_AWKS = name_set("awk gawk mawk nawk busybox")
_AWK_STARTS = re.compile(r"\bsystem\s*\(|(?<!\|)\|(?!\|)|@load\b")
_SED_STARTS = re.compile(r"(?:^|[;{\d$/])\s*[eErRwW](?:\s|$)|s(\W).*?\1.*?\1[gpiImM\d]*[ew]")
_ROOTS = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)\b"
)
_ONLY_LOOK = name_set("grep egrep fgrep zgrep look")


def plans_within(plans: PracticePlans, request: StartPracticeRequest) -> tuple[tuple[PracticePlan, ...], str]:
    """The plans within bounds, each once, and what is wrong with the first that is not.

    The reason names the plan, the command and the rule; a model's answer is repeated nowhere.
    """
    allowed = AllowedCommands(request.allowed_commands)
    results = _results(request)
    names = _file_names(request)
    kept: dict[PracticePlan, None] = {}
    first = ""
    for number, plan in enumerate(plans.plans, 1):
        problems = (
            f"command {position} of plan {number} {problem}"
            for position, command in enumerate(plan.commands, 1)
            if (problem := _problem(command, allowed, results, names))
        )
        if found := next(problems, None):
            first = first or found
        else:
            kept[plan] = None
    return tuple(kept), first


def _problem(
    command: str, allowed: AllowedCommands, results: Sequence[str], names: Sequence[str]
) -> str | None:
    if not command.isprintable():
        return "is more than one line of text"
    if redact(command).masked_count or holds_masked_secret(command):
        return "holds a secret"
    if not allowed.permits(command):
        return "is not on the list of allowed commands"
    if destructive_reason(command) or external_send_reason(command):
        return "destroys something or reaches out over a network"
    calls = calls_in(command)
    if "../" in command or any(map(_leaves, calls)):
        return "names a place outside the practice folder"
    if _UNSEEN.search(_SINGLE_QUOTED.sub("''", command)):
        return "depends on a value that cannot be seen in it"
    if _STEERS_THE_START.search(command) or any(map(_starts_another, calls)):
        return "could start another program"
    if _writes_down(command, calls, results, names):
        return "writes down the result instead of working it out"
    return None


def _leaves(call: Call) -> bool:
    """Whether it names a place outside its folder; a pattern such as ``/west/d`` is none."""
    scripted = call.program == "sed" or call.program in _AWKS
    words = (*call.operands, *(redirection.target for redirection in call.redirections))
    return any(
        word.startswith(("~", ".."))
        or (word.startswith("/") and word != "/dev/null" and not (scripted and not _ROOTS.match(word)))
        for word in words
    )


def _starts_another(call: Call) -> bool:
    """Whether a known program is told to run one that does not stand in the command, where it can be seen."""
    if any(_TELLS_TO_START.match(argument) for argument in call.arguments):
        return True
    if call.program in _AWKS:
        return any(_AWK_STARTS.search(argument) for argument in call.arguments)
    if call.program == "sed":
        return any(_SED_STARTS.search(argument) for argument in call.arguments)
    return call.program in ("tar", "bsdtar") and call.has_flag("I")


def _writes_down(command: str, calls: Sequence[Call], results: Sequence[str], names: Sequence[str]) -> bool:
    """Whether it holds a wanted line, other than as what it looks for or inside a file's name."""
    looking = " ".join(
        argument for call in calls if call.program in _ONLY_LOOK for argument in call.arguments
    )
    for name in sorted(names, key=len, reverse=True):
        command, looking = command.replace(name, ""), looking.replace(name, "")
    return any(command.count(result) > looking.count(result) for result in results)


def _results(request: StartPracticeRequest) -> tuple[str, ...]:
    """Lines that a wanted file is to hold and that nobody told the agent to write."""
    told = "\n".join((request.goal, *request.allowed_commands))
    lines = (line.strip() for condition in request.success_conditions for line in _lines(condition))
    return tuple(line for line in lines if len(line) >= RESULT_CHARS and line not in told)


def _lines(condition: PracticeCondition) -> list[str]:
    return (condition.text or "").splitlines()


def _file_names(request: StartPracticeRequest) -> tuple[str, ...]:
    made = (condition.path for condition in request.success_conditions if condition.path)
    return (*made, *(file.name for file in request.start_files))
