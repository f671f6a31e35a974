"""Commands as a person types them, for what the service names by its own words: commands of a session, routes."""

import re
from collections.abc import Iterable, Mapping

from contracts.abilities.availability import AbilityLifecycleAction as A
from contracts.errors import ErrorCode
from contracts.imports.import_record import RetryKind
from contracts.imports.import_work import ImportCommand as I
from contracts.learning.state_machine import SessionCommand as C

TYPED: Mapping[C, str] = {
    C.CREATE: "learn create",
    C.START: "learn start {id}",
    C.PAUSE: "learn pause {id}",
    C.RESUME: "learn resume {id}",
    C.STOP: "learn stop {id}",
    C.CANCEL: "learn cancel {id}",
    C.MARK: 'learn mark-goal "WHAT IT IS FOR" {id}',
    C.TRIM: "learn trim start|end EVENT {id}",
    C.SET_TEST_POLICY: "learn test-policy {id}",
    C.GENERATE_PROPOSAL: "learn propose {id}",
    C.ANSWER_QUESTIONS: "learn answer {id}",
    C.REVISE: 'learn revise "WHAT TO CHANGE" {id}',
    C.VALIDATE: "learn validate {id}",
    C.INSTALL: "learn install {id}",
    C.APPROVE: "learn approve {id}",
    C.REJECT: 'learn reject --reason "WHY" {id}',
}
"""How each command of a session is typed."""

OF_ABILITIES: Mapping[A, str] = {
    A.ACTIVATE: "abilities activate",
    A.DEACTIVATE: "abilities deactivate",
    A.PROMOTE_SHARED: "abilities promote",
    A.DEMOTE_PRIVATE: "abilities demote",
    A.QUARANTINE: "abilities quarantine",
    A.UNQUARANTINE: "abilities unquarantine",
    A.ARCHIVE: "abilities archive",
    A.ROLLBACK: "abilities rollback",
}

OF_IMPORTS: Mapping[str, str] = {
    I.SCAN: "import scan",
    I.STAGE: "import stage",
    I.APPROVE: "import approve",
    I.REJECT: 'import reject --reason "WHY"',
    I.INSTALL: "import install",
    I.DISCARD: "import discard",
    **{f"retry {kind}": f"import retry IMPORT {kind}" for kind in RetryKind},
}
"""How each command of an import is typed; some have the names of a session's."""

ROUTES: Mapping[str, str] = {
    "GET /api/abilities/availability": "abilities list",
    "GET /api/abilities/{ability}": "abilities show {ability}",
    "GET /api/capabilities/bridge": "capabilities bridge",
    "GET /api/categories": "categories list",
    "GET /api/inbox": "inbox",
    "GET /api/learn/adapters": "record adapters",
    "GET /api/learn/mining/candidates": "mining candidates",
    "GET /api/learn/proposals": "learn list",
    "GET /api/learn/recent-runs": "learn recent-runs",
    "GET /api/learn/sessions": "learn list",
    "POST /api/learn/sessions": "learn create",
    "GET /api/mcp/auth-profiles": "mcp profiles list",
    "POST /api/mcp/auth-profiles": "mcp profiles create",
    "GET /api/mcp/dispatches": "mcp calls",
    "GET /api/mcp/dispatches/{call}": "mcp show {call}",
    "GET /api/mcp/grants": "mcp grants list",
    "POST /api/mcp/policy/update": "mcp policy set",
    "GET /api/mcp/servers": "mcp servers list",
    "PATCH /api/mcp/servers/{server}": "mcp servers edit {server}",
    "PATCH /api/mcp/servers/{server} with enabled: true": "mcp servers edit {server} --enable",
    "POST /api/mcp/servers/{server}/auth/start": "mcp auth start {server}",
    "GET /api/mcp/servers/{server}/auth/status": "mcp auth status {server}",
    "POST /api/mcp/servers/{server}/smoke-test": "mcp smoke-test {server}",
    "GET /api/mcp/servers/{server}/tools": "mcp tools list {server}",
    "GET /api/memory/check-ins": "memories check-ins",
    "GET /api/memory/facts": "memories facts",
    "GET /api/memory/goals": "memories goals",
    "GET /api/skills": "skills list",
    "GET /api/skills/import/list": "import list",
    "POST /api/skills/import/retry": "import retry",
    "POST /api/skills/import/scan": "import scan",
    "POST /api/skills/import/uploads": "import upload",
    "GET /api/tokens": "tokens list",
    "GET /api/skills/packs": "packs list",
}
"""The command that does what a route does; a segment in braces is put into the command."""

_ROUTE = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /api/[\w/{}.-]*[\w}](?: with enabled: true)?")
_PATTERNS = tuple(
    (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/ ]+)", route)), command) for route, command in ROUTES.items()
)
_NOT_TAKEN = re.compile(r"(?<= does not take )(?:retry )?[a-z][a-z_-]*")


def own_words(text: str) -> str:
    """``text`` with commands of this program where it names routes; a route without a command stays."""
    return _ROUTE.sub(lambda found: _command_of(found.group()), text)


def refusal_in_own_words(text: str, code: str) -> str:
    """As :func:`own_words`; the command that was not taken is named as it was typed.

    ``code`` is the refusal's: it tells whose command it was.
    """
    return _NOT_TAKEN.sub(lambda found: _typed(found.group(), code), own_words(text))


def typed(commands: Iterable[object], code: str) -> list[str]:
    """The commands that a refusal with ``code`` names as they are typed, without ids; others by their own names."""
    return [_typed(str(one), code) for one in commands]


def _command_of(route: str) -> str:
    for pattern, command in _PATTERNS:
        if found := pattern.fullmatch(route):
            # A segment that the text leaves open, such as {id}, is left open.
            ids = {name: value.strip("{}") for name, value in found.groupdict().items()}
            given = {name: id_ if id_ == found[name] else id_.upper() for name, id_ in ids.items()}
            return f"`apprentice {command.format(**given)}`"
    return route


def _typed(name: str, code: str) -> str:
    if code == ErrorCode.INVALID_SKILL_IMPORT_TRANSITION:
        command = OF_IMPORTS.get(name)
    else:
        command = TYPED[C(name)] if name in set(C) else OF_ABILITIES.get(A(name)) if name in set(A) else None
    return f"`apprentice {command.format(id='').rstrip()}`" if command else name
