"""How the input of a skill becomes the arguments of a program, or a request (AI-08): by configuration alone.

``{name}`` stands for a whole field of the input. A text is taken as it is, anything else as JSON. An argument whose
field is not given is left out, together with a bare option before it (``--calendar {calendar}``).
"""

import json
import re
from typing import Any
from urllib.parse import quote, urlencode

from contracts.skills.manifest import CommandMapping, HttpMapping
from skills.runtime.skill_run import failed

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,119})\}")


def arguments_of(mapping: CommandMapping, params: dict[str, Any]) -> list[str]:
    """The arguments of a program; each stays one argument, whatever its field holds."""
    arguments: list[str] = []
    option = False
    for template in mapping.argv:
        fields = _FIELD.findall(template)
        if all(params.get(name) is not None for name in fields):
            arguments.append(_FIELD.sub(lambda found: _text(params[found[1]]), template))
            option = template.startswith("-") and not fields
        else:
            if option:
                arguments.pop()
            option = False
    return arguments


def request_of(mapping: HttpMapping, address: str, params: dict[str, Any], key: str) -> dict[str, Any]:
    """A request, as the ``http`` service takes it: ``method``, ``url``, ``headers``, ``body``.

    Raises:
        RunFailed: ``INVALID_INPUT``, a field that the address needs is not given.
    """

    def filled(found: re.Match[str]) -> str:
        if (value := params.get(found[1])) is None:
            raise failed("INVALID_INPUT", f"the address needs the field {found[1]}")
        return quote(_text(value), safe="")

    url = _FIELD.sub(filled, address)
    query = {name: _text(params[name]) for name in mapping.query if params.get(name) is not None}
    if query:
        url += ("&" if "?" in url else "?") + urlencode(query)
    given = {name: value for name, value in params.items() if name not in mapping.query}
    body = given if mapping.body is None else {name: given[name] for name in mapping.body if name in given}
    headers = {mapping.idempotency_header: key} if mapping.idempotency_header else {}
    return {
        "method": mapping.method,
        "url": url,
        "headers": headers,
        "body": None if mapping.method == "GET" else body,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
