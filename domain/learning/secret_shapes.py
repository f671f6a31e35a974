"""What a secret looks like in a command line, a header, an address or a title.

Each rule is a regular expression behind a few literal triggers: a text that holds no trigger never pays for
the expression. What a rule masks is only ever the value: names, options and hosts stay readable, because a
demonstration is interpreted from them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from domain.learning.named_secrets import MASK, NAME_TRIGGERS, QUOTED, VALUE, mask_named_values, masked_value

_UNMASKED = r"(?!\[MASKED\])"
_SCHEME = r"(?:(?:bearer|basic|token|digest|apikey|negotiate)(?:\s+|\\ ))"
_CREDENTIAL = rf"(?!\s|{_SCHEME}|\$\{{?\w+\}}?(?:[\s\"']|$)){_UNMASKED}"
_REST_OF_COMMAND = rf"(?:[^;|&\n\"'\\]|\\.|{QUOTED})*+"


def _second_group(match: re.Match[str]) -> str:
    return f"{match.group(1)}{masked_value(match.group(2))}"


def _after_first_group(match: re.Match[str]) -> str:
    return f"{match.group(1)}{MASK}"


def _whole(_match: re.Match[str]) -> str:
    return MASK


def _user_info(match: re.Match[str]) -> str:
    scheme, user, password = match.group(1), match.group(2), match.group(3)
    if password is not None:
        return match.group() if password in ("", MASK) else f"{scheme}{user}:{MASK}@"
    plain = re.fullmatch(r"[a-z_][a-z0-9._-]{0,31}|\[MASKED\]|\$\{?\w+\}?", user)
    return match.group() if plain else f"{scheme}{MASK}@"


@dataclass(frozen=True)
class SecretRule:
    """One kind of secret: the lower-case letters that announce it, and how a text is rid of it."""

    triggers: tuple[str, ...]
    mask: Callable[[str], str]


def _rule(
    triggers: str,
    pattern: str,
    replace: Callable[[re.Match[str]], str],
    flags: re.RegexFlag = re.IGNORECASE,
) -> SecretRule:
    return SecretRule(tuple(triggers.split()), partial(re.compile(pattern, flags).sub, replace))


def _options(programs: str, option: str, value: str = VALUE) -> SecretRule:
    """The values of an option that carries a secret only with these programs, wherever it stands among others."""
    command = re.compile(rf"\b(?:{programs})\w*\s{_REST_OF_COMMAND}")
    carried = re.compile(rf"((?<=\s){option}){_UNMASKED}({value})")

    def in_one_command(match: re.Match[str]) -> str:
        return carried.sub(_second_group, match.group())

    return SecretRule(tuple(programs.split("|")), partial(command.sub, in_one_command))


_CURL_USER = r"(?:-u|--user|--proxy-user|-U)[\s=]*"

RULES: tuple[SecretRule, ...] = (
    _rule(
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|.*)",
        _whole,
        re.IGNORECASE | re.DOTALL,
    ),
    _rule("://", r"\b([a-z][a-z0-9+.-]{0,30}://)([^\s/@:\"'<>]*)(?::([^\s/\"'<>]*))?@", _user_info),
    # Inside quotes a header runs to the closing quote; bare, it is a scheme and one word.
    _rule(
        "authorization cookie x-api-key x-auth-token",
        rf"((?<=[\"'])(?:proxy-)?(?:authorization|(?:set-)?cookie|x-api-key|x-auth-token)\s*[:=]\s*"
        rf"{_SCHEME}?){_CREDENTIAL}[^\"'\r\n]+",
        _after_first_group,
    ),
    _rule(
        "authorization cookie",
        rf"((?<![\w-])(?:proxy-)?(?:authorization|(?:set-)?cookie)\\?[\"']?\s*[:=]\s*\\?[\"']?"
        rf"{_SCHEME}?){_CREDENTIAL}[^\s\"'\\]+",
        _after_first_group,
    ),
    _rule(
        "bearer",
        rf"(\bbearer(?:\s+|%20|\\ )){_UNMASKED}(?=[a-z~+/=-]*[\d._]|\S{{24}})[a-z0-9._~+/=-]{{6,}}",
        _after_first_group,
    ),
    _rule(
        "basic",
        r"(\b[Bb]asic\s+)(?=[A-Za-z]*[0-9=+/]|[a-z]+[A-Z])[A-Za-z0-9+/]{8,}={0,2}",
        _after_first_group,
        re.NOFLAG,
    ),
    SecretRule(NAME_TRIGGERS, mask_named_values),
    _rule("pass:", rf"((?<![\w])pass:){_UNMASKED}[^\s\"']+", _after_first_group),
    _rule(
        "sudo --password-stdin --with-token passwd login",
        rf"(\b(?:echo|printf)\s+(?:-\w+\s+)*(?:['\"]?%s(?:\\n)?['\"]?\s+)?){_UNMASKED}({VALUE})"
        r"(?=\s*\|[^|;&]*(?:sudo\s+(?:-\w+\s+)*-\w*S|--password-stdin|--with-token|\b(?:ch)?passwd\b))",
        _second_group,
    ),
    _rule(
        "sudo --password-stdin --with-token passwd login",
        rf"((?:\bsudo\s+(?:-\w+\s+)*-\w*S|--password-stdin|--with-token|passwd|login)\b[^|;&<]*<<<\s*){_UNMASKED}({VALUE})",
        _second_group,
    ),
    _rule(
        "machine",
        rf"(\bmachine\s+\S+\s+login\s+\S+\s+password\s+){_UNMASKED}([^\s\"']+)",
        _second_group,
    ),
    _options("mysql|mariadb|7z", r"-p(?=\S)"),
    _options("sshpass|mongo|login", r"-p\s*(?!-)"),
    _options("curl", rf"{_CURL_USER}\"[^:\"]*:", r"[^\"]+(?=\")"),
    _options("curl", rf"{_CURL_USER}'[^:']*:", r"[^']+(?=')"),
    _options("curl", rf"{_CURL_USER}[^\s:\"']*:", r"[^\s\"']+"),
    _options("curl", r"(?:-b|--cookie)[\s=]*(?=[\"']?[^\s\"']*=)"),
    _options("redis-cli", r"-a\s+"),
    _options("ldap", r"-w\s+"),
    _options("zip|unzip|sqlcmd|bcp", r"-P\s*"),
    _options("ssh-keygen", r"-[NP]\s+"),
    _options("smbclient", r"-U\s*[\"']?[^\s%\"']*%", r"[^\s\"']+"),
    _options("openssl", r"-[kK]\s+"),
    _options("useradd|usermod", r"-p\s+"),
    _options("lftp", r"-u\s*[^\s,]+,", r"[^\s\"']+"),
    _options("sqlplus", r"[\w.]+/", r"[^\s@\"']+"),
    _options("net use", r"\\\\\S+\s+(?!/)"),
    _options("ansible-vault", r"encrypt_string\s+(?!-)"),
    _options("vault kv put|vault write", r"[\w.-]+="),
    _options("vault login", r"(?<=login )(?!-|\S+=)"),
    _options("rclone", r"\w*(?:secret|pass|token|key)\w*\s+"),
    _options("htpasswd", r"-\w*b\w*\s+\S+\s+\S+\s+"),
    _rule(
        "akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xox xapp- sk- sk_ rk_ pk_ whsec_ aiza ya29. gocspx- "
        "eyj glpat- gldt- npm_ pypi- hf_ sg. dop_v1_ shp sq0 age-secret-key- atatt hvs. dapi lin_api_ tskey- "
        "rubygems_ xkeysib- hooks.slack.com :aa",
        r"(?<![A-Za-z0-9])(?:A(?:KIA|SIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{10,}"
        r"|xapp-[\w-]{10,}|sk-(?=[A-Za-z_-]*\d)[\w-]{16,}|[srp]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}"
        r"|AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
        r"|gl(?:pat|dt)-[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{30,}|hf_\w{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_\w{30,}|shp[a-z]{2}_\w{20,}"
        r"|sq0[a-z]{3}-[\w-]{20,}|AGE-SECRET-KEY-\w{30,}|ATATT\w[\w=-]{20,}|hvs\.[\w-]{20,}|dapi[0-9a-f]{32}"
        r"|lin_api_\w{30,}|tskey-[\w-]{16,}|rubygems_\w{30,}|xkeysib-[\w-]{30,}|\d{8,10}:AA[\w-]{30,})"
        r"|(?<=hooks\.slack\.com/services/)[\w/]+",
        _whole,
        re.NOFLAG,
    ),
)
"""In the order in which they are tried; a rule may rely on what an earlier one has masked."""
