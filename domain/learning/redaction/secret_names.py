"""Names of secrets, and the values that stand behind them: ``TOKEN=…``, ``--password …``, ``"api_key": …``.

``is_secret_name`` knows names that mean a secret wherever they stand, also in a file. ``names_secret`` takes more for
one, in what people type: ``OPENAI_KEY``, ``db_pw``, ``passwort``, ``psswd``; in a program's source ``cache_key = x``
says nothing.
"""

import re
from collections.abc import Callable
from functools import lru_cache

MASK = "[MASKED]"
"""Replaces a secret."""

QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
VALUE = (
    rf"(?:\\\"[^\"]*\"|{QUOTED}|(?:[^\s;&|<>\"'`,(){{}}\[\]\\]|\\.|[\[\](){{}},](?=\S))"
    rf"(?:[^\s;&|<>\"'`\\]|\\.|{QUOTED})*)"
)
"""One shell word, or one value of JSON or a query: pieces of any quoting that stand together."""

NAME_TRIGGERS = ("pass", "secret", "token", "credential", "key", "pwd", "auth", "jwt", "otp", "sig", "pat")
"""Every name of ``is_secret_name`` contains one of these, in lower case."""

_OTHER_LANGUAGES = (
    "kennwort contraseña contrasena senha wachtwoord hasło haslo parola lösenord пароль 密码 パスワード"
)
_OFTEN_TYPED = frozenset(
    [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "credential",
        "credentials",
        "passwort",
        "kennwort",
    ]
)
_SHORTEST_MISSPELT = 5


def _misspelt(word: str) -> set[str]:
    """``word`` with one letter left out, or with two neighbours swapped."""
    shorter = {word[:n] + word[n + 1 :] for n in range(len(word))}
    swapped = {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1)}
    return {one for one in shorter | swapped if len(one) >= _SHORTEST_MISSPELT}


MISSPELT_NAMES = tuple(sorted({one for word in _OFTEN_TYPED for one in _misspelt(word)} - _OFTEN_TYPED))
"""What a person who types in a hurry makes of the words for secrets: ``psswd``, ``passwrod``."""

TYPED_NAME_TRIGGERS = (
    *NAME_TRIGGERS,
    *MISSPELT_NAMES,
    *("pw", "psk", "cred", "mfa", "2fa", "pin=", "pin:", "pin'", 'pin"', "pin ", "_code", "motdepasse"),
    *_OTHER_LANGUAGES.split(),
)
"""Every name of ``names_secret`` contains one of these, in lower case."""

_SECRET_NAME = re.compile(
    r"passw(?:or)?ds?|passphrase|passcode|secrets?(?!ar)|tokens?(?!i[sz])|credentials?"
    r"|(?:api|access|private|secret|auth|account|signing|encryption|master|shared|deploy|license)[_-]?key"
    r"|(?<!by)(?<!com)(?<!sur)(?<!tres)pass(?![a-z])|(?<![a-z])(?:pwd|auth|jwt|otp|sig|(?-i:PAT))(?![a-z])"
    r"|(?<![a-z])signature(?![a-z])",
    re.IGNORECASE,
)
_TYPED_NAME = re.compile(
    rf"(?<![a-z])(?:pw|psk|creds?|{'|'.join(_OTHER_LANGUAGES.split())})(?![a-z])|passwort|mot_?de_?passe"
    rf"|(?<![a-z])(?:{'|'.join(MISSPELT_NAMES)})(?![a-z])"
    r"|(?<![a-z])(?:mfa|2fa|otp|recovery|verification|backup)[_-]?codes?(?![a-z])|(?<![a-z])pin$",
    re.IGNORECASE,
)
_KEY_OF = re.compile(r"([A-Za-z0-9]+)(?:[_.:-][Kk][Ee][Yy]|(?<=[a-z])Key)$")
_KINDS = (
    "public pub primary foreign sort partition cache group row hash range map index lookup unique object host hot "
    "short shortcut message routing json dict field translation i18n registry product idempotency dedupe dedup join "
    "merge natural surrogate composite candidate super alternate arrow enter escape esc ctrl shift alt meta tab space "
    "return function modifier any press on keyboard s3 bucket file gpg apt by config setting metric topic record event "
    "item id name value label column attr param query order filter time date project issue ticket page next start end "
    "last first min max parent child left right context state tracking trust known add list get set show no data "
    "string int num tree node new old this that the a one each per with for of foo bar baz my ssh rsa"
)
_KINDS_OF_KEY = frozenset(_KINDS.split())
_HARMLESS_NAME = re.compile(
    r"-*(?:export|list|delete|show|print|ask|no|skip|check|verify|has|is)-.*|(?:.*\.)?signingkey",
    re.IGNORECASE,
)
_HARMLESS_ENDING = re.compile(
    r"(?:file|path|dir|folder|stdin|fd|name|url|uri|endpoint|type|kind|count|limit|length|len|size|ttl|age|"
    r"expir\w*|policy|prompt|env|hint|ids?|arn|ref|store|manager|provider|issuer|format|prefix|version|"
    r"method|mode|status|enabled|required|rotation|only|less|helper)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"(?<![\w.-])([\w.-]++)\\?[\"']?\]?(?:\s*=>?\s*|\s*:\s*|%3[dD])(?![=:/])")
_OPTION = re.compile(r"(?<![\w-])--?([\w.-]++)\s+(?!--[A-Za-z]|-[A-Za-z](?![^\s])|[<>|&;])")
_SETTING = re.compile(r"\bset\s+(?:--?\w[\w-]*\s+)*+([\w./:@-]++)\s+(?!-)")
_NAMED_SECRET = re.compile(r"\b(?:gcloud|docker|podman|nerdctl)\b[^;|&\n]*--secret[\s=]+$")
_ONE_VALUE = re.compile(VALUE)
_REFERENCE = re.compile(r"\"?\$(?:\w+|\{\w+\})\"?|\"?\$\(.*")
_SWITCH = re.compile(r"(?:true|false|null|none|yes|no|on|off|required|optional|[\"']{2})", re.IGNORECASE)
_NUMBER = re.compile(r"\d+[\])},]*")
_PLACE = re.compile(r"[\"']?(?:[~.]{0,2}/|file:|[\w./~-]+\.(?:pem|pub|key|crt|der|p8|asc)\b).*", re.DOTALL)
_SHORTEST_PIN = 4


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or field of this name holds a secret (``TOKEN_FILE`` holds a path)."""
    return _ends_as_secret(_SECRET_NAME, name)


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether this name, typed in a command, means a secret: as ``is_secret_name``, and ``OPENAI_KEY``, ``db_pw``."""
    if _HARMLESS_NAME.fullmatch(name):
        return False
    return is_secret_name(name) or _ends_as_secret(_TYPED_NAME, name) or _names_key(name)


def _names_key(name: str) -> bool:
    found = _KEY_OF.search(name)
    if found is None:
        return False
    kind = found.group(1).lower()
    return kind not in _KINDS_OF_KEY


def _ends_as_secret(names: re.Pattern[str], name: str) -> bool:
    found = list(names.finditer(name))
    if not found:
        return False
    tail = name[found[-1].end() :]
    ending = _HARMLESS_ENDING.search(tail) if tail else None
    return ending is None or ending.end() != len(tail)


def mask_named_values(text: str) -> str:
    """``text`` with the values of secret names masked, their quotes kept."""
    return _mask_named(text, is_secret_name)


def mask_typed_values(text: str) -> str:
    """``mask_named_values`` by the names of ``names_secret``."""
    return _mask_named(text, names_secret)


def _mask_named(text: str, is_name: Callable[[str], bool]) -> str:
    for pattern in (_ASSIGNED, _OPTION, _SETTING):
        text = _mask_after(pattern, text, is_name)
    return text


def is_no_secret(value: str) -> bool:
    """Whether a value is a variable, a switch, empty or masked already."""
    return bool(value in {"", "-", MASK} or _REFERENCE.fullmatch(value) or _SWITCH.fullmatch(value))


def masked_value(value: str) -> str:
    """The mask, or ``value`` itself where it is a variable or a switch."""
    if _REFERENCE.fullmatch(value) or _SWITCH.fullmatch(value):
        return value
    quote = value[0] if value[0] in "\"'" and value[-1] == value[0] and len(value) > 1 else ""
    return f"{quote}{MASK}{quote}"


def _mask_after(pattern: re.Pattern[str], text: str, is_name: Callable[[str], bool]) -> str:
    # A value is read only after a secret's name, or ``--set password=x`` would hide in the value of ``set``.
    pieces: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        name = match.group(1)
        if match.start() < done or not is_name(name):
            continue
        value = _ONE_VALUE.match(text, match.end())
        if value is None or text.startswith(MASK, match.end()) or _is_plain(name, value.group()):
            continue
        if name.lstrip("-") == "secret" and _NAMED_SECRET.search(text, 0, match.end()):
            continue
        pieces += (text[done : match.end()], masked_value(value.group()))
        done = value.end()
    return "".join((*pieces, text[done:])) if pieces else text


def _is_plain(name: str, value: str) -> bool:
    """Excludes counts of tokens, the working folder, numbers of contacts, and where a key is kept."""
    if name == "PWD":
        return value.startswith("/")
    lower = name.lower()
    if name == "pass" and value in {"1", "2", "3"}:
        # The passes of a video encoder.
        return True
    if lower.endswith("pin"):
        return len(value.strip("\"'")) < _SHORTEST_PIN
    if not is_secret_name(name):
        return bool(_PLACE.fullmatch(value))
    return lower.endswith(("tokens", "secrets", "passwords")) and bool(_NUMBER.fullmatch(value))
