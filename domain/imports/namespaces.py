"""Names at run time of what a skill brings, and which of them stand for another (DOC3 §0.5B, lines 4793-4807)."""

import hashlib
import re
from collections.abc import Collection

from domain.imports.specification import NAME_LIMIT

MOST_NAMESPACE = 32
_SEPARATOR = "__"


def namespace_of(skill_name: str) -> str:
    """The namespace of an imported skill, such as ``ext_ab12_outlook``: the same for the same name everywhere."""
    digest = hashlib.sha256(skill_name.encode()).hexdigest()[:4]
    first = skill_name.partition("-")[0]
    return f"ext_{digest}_{first}"[:MOST_NAMESPACE]


def runtime_tool(namespace: str, tool: str) -> str:
    """The name under which a tool of the skill runs: ``ext_ab12_outlook__save_attachment``."""
    plain = re.sub(r"[^a-z0-9]+", "_", tool.casefold()).strip("_")
    return f"{namespace}{_SEPARATOR}{plain[:NAME_LIMIT]}"


def shadowed(tool: str, others: Collection[str]) -> str | None:
    """The other tool that this name could be taken for: they differ in capitals and separators at most."""
    key = _key(tool)
    return next((other for other in sorted(others) if _key(other) == key), None)


def _key(name: str) -> str:
    return re.sub(r"[-_.:/\s]+", "", name.casefold())
