"""State behind the files of a folder, for conditions: git, databases, packages, links (by the witnesses)."""

from collections.abc import Mapping
from pathlib import Path

from host.witness.bounded_folder import Limits
from host.witness.witness import observe_all

_LIMITS = Limits(entries=20_000)
"""As many entries as files of a folder are read."""
_EACH_RUN = ("commit of ", "message of ", "not readable")
"""How aspects begin whose value is another one in each run, or no state."""


def state_facts(folder: Path) -> Mapping[str, str]:
    """What holds of the folder, by subject and aspect; empty where it cannot be read. Commit ids are left out."""
    try:
        observation = observe_all(folder, _LIMITS)
    except OSError:
        return {}
    return {
        f"{fact.subject}: {fact.aspect}": str(fact.value)
        for fact in observation.facts
        if not fact.aspect.startswith(_EACH_RUN)
    }
