"""State behind the files of a folder, for conditions: git, databases, packages, links (by the witnesses)."""

import os
from collections.abc import Mapping
from pathlib import Path

from contracts.generated_trees import generated_in, is_tree_by_name
from host.witness.git import GitWitness
from host.witness.packages import PackageWitness
from host.witness.sqlite import SqliteWitness
from host.witness.witness import observe_all

_MOST_LINKS = 2_000
_EACH_RUN = ("commit of ", "message of ", "not readable")
"""How aspects begin whose value is another one in each run, or no state."""


def state_facts(folder: Path) -> Mapping[str, str]:
    """What holds of the folder, by subject and aspect; empty where it cannot be read. Commit ids are left out."""
    try:
        observation = observe_all(folder, witnesses=(GitWitness(), SqliteWitness(), PackageWitness()))
    except OSError:
        return {}
    facts = {
        f"{fact.subject}: {fact.aspect}": str(fact.value)
        for fact in observation.facts
        if not fact.aspect.startswith(_EACH_RUN)
    }
    return facts | _links(folder)


def _links(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, folders, files in os.walk(folder):
        generated = generated_in([*folders, *files], is_root=place == str(folder))
        folders[:] = sorted(
            name for name in folders if name != ".git" and not is_tree_by_name(name) and name not in generated
        )
        for name in (*folders, *files):
            path = Path(place, name)
            if name not in generated and path.is_symlink() and len(found) < _MOST_LINKS:
                found[f"{path.relative_to(folder).as_posix()}: target"] = str(path.readlink())
    return found
