"""Which programs a skill has declared, and which file each of them is (AM-18, X-6)."""

import shutil
import stat
from pathlib import Path
from typing import Any, cast

from contracts.skills.manifest import SkillManifest
from skills.runtime.refusals import BrokerRefused, denied

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a program that is declared by its bare name is looked for; the first that is found is the one."""

MAX_ARGUMENTS, MAX_ARGUMENT_BYTES = 256, 131_072
"""Arguments of one call: how many, and how long in all (128 KiB)."""


def resolve(declared: str) -> Path | None:
    """The one file that a declared name stands for; None where there is none that can be executed."""
    found = declared if Path(declared).is_absolute() else shutil.which(declared, path=SEARCH_PATH)
    if found is None or ("/" in declared and not Path(declared).is_absolute()):
        return None
    path = Path(found)
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return path if stat.S_ISREG(mode) and mode & 0o111 else None


def permitted_program(manifest: SkillManifest, asked: str) -> Path:
    """The file of the declared program that ``asked`` names: by the declared name, or by its very path.

    Raises:
        BrokerRefused: ``PERMISSION_DENIED`` where no declared program is it, ``UNAVAILABLE`` where it is not installed.
    """
    for declared in manifest.permissions.local_binaries:
        path = resolve(declared)
        if asked == declared:
            if path is None:
                raise BrokerRefused(
                    "UNAVAILABLE", f"the program {declared} is not installed here", retryable=False
                )
            return path
        if path is not None and asked == str(path):
            return path
    raise denied(f"the manifest of {manifest.name} does not permit the program {asked[:200]!r}")


def checked_arguments(argv: Any) -> list[str]:
    """The arguments of a call, if they are a list of texts within the limits.

    Raises:
        BrokerRefused: ``INVALID_INPUT``.
    """
    given = cast("list[object]", argv) if isinstance(argv, list) else []
    arguments = [one for one in given if isinstance(one, str)]
    if not given or len(arguments) < len(given):
        raise BrokerRefused(
            "INVALID_INPUT", "exec takes a list of texts, a program and its arguments: no shell"
        )
    if len(arguments) > MAX_ARGUMENTS or sum(len(one.encode()) for one in arguments) > MAX_ARGUMENT_BYTES:
        raise BrokerRefused("INVALID_INPUT", "exec takes at most 256 arguments, of 128 KiB in all")
    if any("\0" in one for one in arguments):
        raise BrokerRefused("INVALID_INPUT", "an argument holds a NUL character")
    return arguments
