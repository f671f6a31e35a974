"""What keeps a sandbox from carrying out a command: another folder, a keyboard, a secret, the network, privileges."""

from contracts.learning.observation import OUTSIDE_FOLDER
from domain.learning.commands.command_line import Part, calls_in, parts_of
from domain.learning.commands.command_safety import external_send_reason, holds_masked_secret
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.commands.typing_programs import EDITORS, PAGERS, WINDOW_PROGRAMS, waits_for_lines

_ELSEWHERE = (
    "it was run outside the lesson's folder, of which nothing is known; teach it in the folder that holds all that"
    " it works on"
)


def rehearsal_obstacle(command: str, working_folder: str = ".") -> str | None:
    """Why no rehearsal can carry out the command, with what would help; ``None`` where one can."""
    if elsewhere := outside_reason(working_folder):
        return elsewhere
    if command.startswith("sha256:"):
        return "it was recorded as a digest only; teach it with a redaction mode that keeps text"
    if holds_masked_secret(command):
        return (
            "a secret was cut out of it when it was recorded; teach it with the secret in a file or a variable"
            " that the command reads"
        )
    if waiting := person_needed(command):
        return waiting
    if reason := external_send_reason(command):
        return f"it needs the network ({reason}); fetch the file first, and teach the work on the file"
    try:
        privileged = any(call.is_privileged for call in calls_in(command))
    except UnreadableCommand:
        return None
    return "it needs the rights of another user; do that part by hand before the work" if privileged else None


def outside_reason(working_folder: str) -> str | None:
    """Why a command that ran in this folder cannot be repeated; ``None`` where the folder is in the lesson's."""
    return _ELSEWHERE if working_folder == OUTSIDE_FOLDER else None


def person_needed(command: str) -> str | None:
    """Why only a person can carry out the command: it opens a window, or waits for a keyboard."""
    program = program_for_a_person(command)
    if program is None:
        return None
    if program in WINDOW_PROGRAMS:
        return "it opens a window, which a sandbox does not have"
    return (
        f"{program} waits for what a person types, which was not recorded; give {program} its commands in a"
        " here-document or a file"
    )


def program_for_a_person(command: str) -> str | None:
    """The program of the command in which a person works, in a window or by a keyboard."""
    parts = parts_of(command)
    windows = (part.program for part in parts if part.program in WINDOW_PROGRAMS)
    waiting = (part.program for part in parts if _waits_for_a_person(part))
    return next(windows, None) or next(waiting, None)


def _waits_for_a_person(part: Part) -> bool:
    return part.program in EDITORS - PAGERS or waits_for_lines(part)
