"""Values that their name gives away: ``TOKEN=…``, ``--password …``, ``"api_key": …``, ``set secret …``."""

import re

MASK = "[MASKED]"
"""What stands where a secret stood."""

QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
VALUE = (
    rf"(?:\\\"[^\"]*\"|{QUOTED}|(?:[^\s;&|<>\"'`,(){{}}\[\]\\]|\\.|[\[\](){{}},](?=\S))"
    rf"(?:[^\s;&|<>\"'`\\]|\\.|{QUOTED})*)"
)
"""One shell word, or one value of JSON or a query: pieces of any quoting that stand together."""

NAME_TRIGGERS = ("pass", "secret", "token", "credential", "key", "pwd", "auth", "jwt", "otp", "sig", "pat")
"""Lower-case letters without one of which no name is a secret's."""

_SECRET_NAME = re.compile(
    r"passw(?:or)?ds?|passphrase|passcode|secrets?(?!ar)|tokens?(?!i[sz])|credentials?"
    r"|(?:api|access|private|secret|auth|account|signing|encryption|master|shared|deploy|license)[_-]?key"
    r"|(?<!by)(?<!com)(?<!sur)(?<!tres)pass(?![a-z])|(?<![a-z])(?:pwd|auth|jwt|otp|sig|(?-i:PAT))(?![a-z])"
    r"|(?<![a-z])signature(?![a-z])",
    re.IGNORECASE,
)
_HARMLESS_ENDING = re.compile(
    r"(?:file|path|dir|folder|stdin|fd|name|url|uri|endpoint|type|kind|count|limit|length|len|size|ttl|age|"
    r"expir\w*|policy|prompt|env|hint|ids?|arn|ref|store|manager|provider|issuer|format|prefix|version|"
    r"method|mode|status|enabled|required|rotation|only|less)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"(?<![\w.-])([\w.-]++)\\?[\"']?\]?(?:\s*=>?\s*|\s*:\s*|%3[dD])(?![=:/])")
_OPTION = re.compile(r"(?<![\w-])--?([\w.-]++)\s+(?!--[A-Za-z]|-[A-Za-z](?![^\s])|[<>|&;])")
_SETTING = re.compile(r"\bset\s+(?:--?\w[\w-]*\s+)*+([\w./:@-]++)\s+(?!-)")
_ONE_VALUE = re.compile(VALUE)
_REFERENCE = re.compile(r"\"?\$(?:\w+|\{\w+\})\"?|\"?\$\(.*")
_SWITCH = re.compile(r"(?:true|false|null|none|yes|no|on|off|required|optional|[\"']{2})", re.IGNORECASE)
_NUMBER = re.compile(r"\d+[\])},]*")


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or field of this name holds a secret (``TOKEN_FILE`` holds a path)."""
    found = list(_SECRET_NAME.finditer(name))
    if not found:
        return False
    tail = name[found[-1].end() :]
    ending = _HARMLESS_ENDING.search(tail) if tail else None
    return ending is None or ending.end() != len(tail)


def mask_named_values(text: str) -> str:
    """``text`` with the values of secret names masked, their quotes kept."""
    for pattern in (_ASSIGNED, _OPTION, _SETTING):
        text = _mask_after(pattern, text)
    return text


def masked_value(value: str) -> str:
    """What stands for ``value``: a mask, or itself where it is a variable or a switch."""
    if _REFERENCE.fullmatch(value) or _SWITCH.fullmatch(value):
        return value
    quote = value[0] if value[0] in "\"'" and value[-1] == value[0] and len(value) > 1 else ""
    return f"{quote}{MASK}{quote}"


def _mask_after(pattern: re.Pattern[str], text: str) -> str:
    # A value is read only after a secret's name, or ``--set password=x`` would hide in the value of ``set``.
    pieces: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        name = match.group(1)
        if match.start() < done or not is_secret_name(name):
            continue
        value = _ONE_VALUE.match(text, match.end())
        if value is None or text.startswith(MASK, match.end()) or _is_plain(name, value.group()):
            continue
        pieces += (text[done : match.end()], masked_value(value.group()))
        done = value.end()
    return "".join((*pieces, text[done:])) if pieces else text


def _is_plain(name: str, value: str) -> bool:
    """Countable tokens and the working folder are no secrets."""
    if name == "PWD":
        return value.startswith("/")
    return name.lower().endswith(("tokens", "secrets", "passwords")) and bool(_NUMBER.fullmatch(value))
