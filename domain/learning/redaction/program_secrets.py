"""Secrets that programs take by place or option: ``bw unlock P``, ``http -a user:P``, ``kinit <<< P``.

One table of synopses, from the manuals of the programs. A row is ``programs words +conditions : items``:

- ``programs`` are separated by ``|``, ``*`` is any; ``words`` are the subcommand, in this order somewhere in the
  command; ``+x`` asks for the word ``x`` (or an option's value ``=x``), ``+-b`` for the letter ``b`` among short
  options.
- ``-p @`` an option whose value, the next word or behind ``=``, is secret; ``-p@`` one written in one word;
  ``-m _`` an option with a harmless value, so that this is not counted among the operands.
- ``_ @`` operands: the second is secret. ``...@``: the last is. ``@*``: all are. ``n @``: one that follows the name
  of a secret is. ``\\\\ @``: the one behind a network path is. ``x* @``: the first begins with ``x``. ``!@``: unless
  it is a ``name=value``.
- a value can have a shape: ``_:@`` only what stands behind the first colon, ``key=@`` behind this text, ``_/@@_``
  between the slash and the last ``@``.
- ``<`` what the program is given by a here-string or by ``echo`` and ``printf`` through a pipe; ``n<`` only where an
  operand is the name of a secret.

A variable, an option's switch and what is masked already stay as they are.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from domain.learning.redaction.command_pieces import PiecedCommand, Word, commands_in, has_option

_TABLE = r"""
http|https|xh|xhs: -a _:@ --auth _:@
http|https|xh|xhs +bearer: -a @ --auth @
curl: -u _:@ -u_:@ --user _:@ -U _:@ -U_:@ --proxy-user _:@ -E _:@ --cert _:@ -b _=@ --cookie _=@
curl: --oauth2-bearer @ --pass @ --tlspassword @ --proxy-pass @
ab: -A _:@ -P _:@
lynx: -auth _:@ -pauth _:@
etcdctl|influx: --user _:@
kubectl|oc create secret: --from-literal _=@
podman|buildah: --creds _:@
skopeo: --creds _:@ --src-creds _:@ --dest-creds _:@
oc|docker|podman|helm login: -p @
az: -p @
docker|podman secret create: <
fly|flyctl secrets set: _=@*
fly|flyctl secrets import: <
doppler secrets set: _=@*
wrangler secret put: <
az keyvault secret set: --value @
aws ssm put-parameter +SecureString: --value @
aws secretsmanager: --secret-string @
gcloud secrets create: <
gcloud secrets versions add: <
doctl auth init: -t @ --access-token @
pulumi config set +--secret: _ @
vault kv put: _=@*
vault kv patch: _=@*
vault write: _=@*
vault login: !@
vault operator unseal: @
vault unseal: @
consul acl set-agent-token: _ @
consul kv put: n @
nomad var put: _=@*
ansible-vault encrypt_string: @
gh secret set: -b @ -b@ --body @ <
gh variable set: n @
glab auth login: -t @ --token @
glab variable set: -s _ -t _ _ @
git config: n @
setx|setenv|nmcli|iwctl|pdftk|crudini: n @
npm|yarn|pnpm config set: n @
poetry config: n @
poetry|composer config: http-basic.* _ @
conda|pip config set: n @
dotnet user-secrets set: _ @
dotnet nuget push: -k @ --api-key @
dotnet nuget add: -p @
nuget setapikey: @
twine: -p @
uv publish: -t @ -p @
cargo login: @
gem push: -k _ --key @
snyk auth: @
wandb login: @
ngrok authtoken: @
ngrok config add-authtoken: @
mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mariadb|mariadb-dump|mariadb-admin: -p@
mysqladmin|mariadb-admin password: @
mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport: -p @ -p@
redis-cli|valkey-cli|keydb-cli: -a @
redis-cli|valkey-cli|keydb-cli auth: ...@
redis-cli|valkey-cli config set requirepass: @
sqlcmd|bcp: -P @ -P@
sqlplus|sqlplus64|expdp|impdp|sqlldr|rman: _/@@_
isql: _ _ @
cqlsh|cypher-shell|rabbitmqadmin: -p @
neo4j-admin set-initial-password: @
rabbitmqctl add_user: _ @
rabbitmqctl change_password: _ @
rabbitmqctl authenticate_user: _ @
mosquitto_pub|mosquitto_sub|mosquitto_rr: -P @
mosquitto_passwd +-b: ...@
ldapsearch|ldapmodify|ldapadd|ldapdelete|ldapmodrdn|ldapwhoami|ldapcompare: -w @ -w@
ldappasswd: -w @ -w@ -s @ -a @
slappasswd: -s @
openssl: -k @ -K @ -hmac @
openssl passwd: -salt _ -in _ @*
gpg|gpg2 +--passphrase-fd: <
ssh-keygen: -N @ -P @
zip|unzip|zipcloak: -P @ -P@
7z|7za|7zr|7zz|rar|unrar: -p@ -hp@
qpdf --encrypt: @ @
qpdf: --user-password @ --owner-password @
pdftotext|pdftoppm|pdfinfo|pdftocairo|pdfimages|pdftohtml: -upw @ -opw @
cryptsetup: <
steghide: -p @
certutil: -p @
bw unlock: --passwordenv _ --passwordfile _ @
bw login: --method _ --code @ _ @
op signin: <
op item create: password=@*
pass insert: <
keepassxc-cli: <
secret-tool store: <
keyring set: <
security add-generic-password: -w @ -p @
security add-internet-password: -w @ -p @
security unlock-keychain: -p @
security create-keychain: -p @
security set-keychain-password: -o @ -p @
security import: -P @
security set-key-partition-list: -k @
net use: \\ @
net user: _ @
net rpc: -U _%@
net ads: -U _%@
kinit|su|runas|passwd|smbpasswd|realm|vncpasswd|openconnect: <
chpasswd: <_:@
kadmin|kadmin.local: -w @
ktpass: -pass @
sudo|doas +-S: <
sudo|doas +--stdin: <
* +--password-stdin: <
* +--with-token: <
* +login: <
useradd|usermod: -p @
htpasswd +-b: -C _ ...@
caddy hash-password: --plaintext @
mkpasswd: -m _ -S _ -R _ -P _ @
sshpass: -p @ -p@
ncftp|ncftpput|ncftpget|ncftpls: -p @
lftp: -u _,@
smbclient|rpcclient|smbget|smbmap: -U _%@ --user _%@
xfreerdp|wlfreerdp|mstsc: /p:@
rdesktop: -p @
vncviewer|x11vnc: -passwd @
x11vnc: -storepasswd @
wpa_passphrase: _ @
netsh: key=@
cmdkey: /pass:@
snmpget|snmpset|snmpwalk|snmpbulkwalk|snmpbulkget|snmpgetnext: -A @ -X @ -c @
ipmitool: -P @
racadm|hydra|crackmapexec|netexec|nxc|evil-winrm|medusa: -p @
impacket-psexec|impacket-smbexec|impacket-wmiexec|impacket-secretsdump|psexec.py|wmiexec.py|secretsdump.py: _:@@_
swaks: -ap @
sendemail: -xp @
rclone obscure: @
rclone config: n @
mc alias set: _ _ _ @
mc config host add: _ _ _ @
airflow users create: -p @
grafana-cli|grafana reset-admin-password: @
drush user:password: _ @
drush upwd: _ @
drush user-password: _ @
jq --arg: n @
read: n<
convertto-securestring: -String @ ...@
snowsql: -p @
psexec|psexec64: -p @
schtasks: /rp @
"""


_ECHOES = frozenset({"echo", "printf", "yes"})
# Their operands are names of programs or texts, not a program with its own operands.
_LOOKING_NAMES = (
    "man which whereis type info apropos whatis tldr apt apt-get brew dnf grep egrep rg ag awk cat less head tail vim "
    "nano ls mkdir rm cp mv touch"
)
_LOOKING = frozenset(_LOOKING_NAMES.split())
_OPTION = re.compile(r"--?\w.*|[-*]", re.DOTALL)
_WINDOWS_OPTION = re.compile(r"/[A-Za-z]+(?::.*)?")
_ONLY_FORMAT = re.compile(r"[\"']?(?:%[sb]|\\n|\s)*[\"']?")
_ATTACHED = re.compile(r"(-[A-Za-z]+)((?:_[^\s@])?@)")
_NAME_AND_VALUE = re.compile(r"[a-z_]+=.", re.DOTALL)
_SHORTEST_TRIGGER = 5
# Of one command, wrappers included; more would take quadratic time.
_MOST_PROGRAMS = 12

Span = tuple[int, int]
IsSecretName = Callable[[str], bool]
IsPlain = Callable[[str], bool]


@dataclass(slots=True)
class _Row:
    """One synopsis."""

    subcommand: tuple[str, ...]
    conditions: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict[str, str])
    attached: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    operands: list[str] = field(default_factory=list[str])
    stdin: str | None = None


def _table() -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for line in _TABLE.strip().splitlines():
        head, _, items = line.partition(": ")
        programs, *words = head.split()
        row = _Row(
            tuple(word for word in words if not word.startswith("+")),
            tuple(word[1:] for word in words if word.startswith("+")),
        )
        _read_items(row, items.split())
        for program in programs.split("|"):
            rows.setdefault(program, []).append(row)
    return rows


def _read_items(row: _Row, items: Sequence[str]) -> None:
    rest = iter(items)
    for item in rest:
        if attached := _ATTACHED.fullmatch(item):
            row.attached.append((attached.group(1), attached.group(2)))
        elif item.startswith(("-", "/")) and "@" not in item:
            row.options[item] = next(rest)
        elif "<" in item:
            row.stdin = item
        else:
            row.operands.append(item)


_ROWS = _table()


def _trigger(program: str, row: _Row) -> str:
    words = (program, *row.subcommand) if program != "*" else row.conditions
    longest = max(words, key=len)
    return longest if len(longest) >= _SHORTEST_TRIGGER else f"{words[0]} "


PROGRAM_TRIGGERS = tuple(
    dict.fromkeys(_trigger(program, row) for program, rows in _ROWS.items() for row in rows)
)
"""A text without one of these, in lower case, holds no program of the table."""


def program_secrets(text: str, is_name: IsSecretName, is_plain: IsPlain) -> list[Span]:
    """Where the programs of the table take a secret in ``text``; quotes are left out, and what ``is_plain`` is."""
    found: list[Span] = []
    for command in commands_in(text):
        found += _in_command(command, is_name, is_plain)
    return found


def _in_command(command: PiecedCommand, is_name: IsSecretName, is_plain: IsPlain) -> Iterator[Span]:
    words = command.words
    if not words or words[0].program in _LOOKING:
        return
    programs = 0
    for place, word in enumerate(words):
        rows = _ROWS.get(word.program)
        if rows is None or programs >= _MOST_PROGRAMS:
            continue
        programs += 1
        if place and "/" in word.text and "bin/" not in word.text:
            continue
        for row in rows:
            yield from _Match(row, command, words[place + 1 :], is_name, is_plain).spans()
    for row in _ROWS["*"]:
        yield from _Match(row, command, words[1:], is_name, is_plain).spans()


class _Match:
    """One row of the table held against the words behind its program."""

    def __init__(
        self,
        row: _Row,
        command: PiecedCommand,
        words: Sequence[Word],
        is_name: IsSecretName,
        is_plain: IsPlain,
    ) -> None:
        self._row, self._command, self._words = row, command, words
        self._is_name, self._is_plain = is_name, is_plain

    def spans(self) -> Iterator[Span]:
        start = self._behind_subcommand()
        if start is None or not all(map(self._holds, self._row.conditions)):
            return
        taken: set[int] = set()
        for place, word in enumerate(self._words):
            yield from self._of_option(place, word, taken)
        operands = [
            word
            for place, word in enumerate(self._words)
            if place >= start and place not in taken and not _OPTION.fullmatch(word.bare)
        ]
        yield from self._of_operands(operands)
        if (stdin := self._row.stdin) is not None and (
            not stdin.startswith("n") or any(self._is_name(word.bare) for word in operands)
        ):
            yield from self._of_stdin(stdin.partition("<")[2] or "@")

    def _behind_subcommand(self) -> int | None:
        wanted = self._row.subcommand
        bare = [word.bare.lower() for word in self._words]
        for place in range(len(bare) - len(wanted) + 1):
            if tuple(bare[place : place + len(wanted)]) == wanted:
                return place + len(wanted)
        return None

    def _holds(self, condition: str) -> bool:
        if len(condition) == 2 and condition.startswith("-"):
            return has_option(self._command, condition[1])
        return any(
            word.bare == condition
            or word.bare.startswith(f"{condition}=")
            or word.bare.endswith(f"={condition}")
            for word in self._words
        )

    def _of_option(self, place: int, word: Word, taken: set[int]) -> Iterator[Span]:
        bare = word.bare
        for option, shape in self._row.options.items():
            if bare == option or _ends_with(bare, option, shape):
                if place + 1 < len(self._words) and not _is_option(self._words[place + 1]):
                    taken.add(place + 1)
                    yield from self._secret(self._words[place + 1], shape)
            elif bare.startswith(f"{option}="):
                yield from self._secret(word, shape, f"{option}=")
        for option, shape in self._row.attached:
            if bare.startswith(option) and len(bare) > len(option):
                yield from self._secret(word, shape, option)

    def _of_operands(self, operands: Sequence[Word]) -> Iterator[Span]:
        wanted = self._row.operands
        if not wanted:
            return
        if wanted == ["n", "@"]:
            for name, value in pairwise(operands):
                if self._is_name(name.bare):
                    yield from self._secret(value, "@")
        elif wanted == ["...@"]:
            yield from self._secret(operands[-1], "@") if len(operands) > 0 else ()
        elif len(wanted) == 1 and wanted[0] not in {"@", "!@"}:
            for word in self._words if wanted[0] != "@*" else operands:
                yield from self._secret(word, wanted[0].removesuffix("*"))
        else:
            yield from self._in_order(operands)

    def _in_order(self, operands: Sequence[Word]) -> Iterator[Span]:
        rest = [word for word in operands if not _WINDOWS_OPTION.fullmatch(word.bare)]
        for wanted in self._row.operands:
            if wanted == "\\\\":
                while rest and not rest[0].bare.startswith("\\\\"):
                    rest = rest[1:]
            if not rest or (wanted.endswith("*") and not rest[0].bare.startswith(wanted[:-1])):
                return
            if wanted == "@" or (wanted == "!@" and not _NAME_AND_VALUE.match(rest[0].bare)):
                yield from self._secret(rest[0], "@")
            rest = rest[1:]

    def _of_stdin(self, shape: str) -> Iterator[Span]:
        command = self._command
        if command.here is not None:
            yield from self._secret(command.here, shape)
        fed_by = command.fed_by
        if fed_by is not None and fed_by.words and fed_by.words[0].program in _ECHOES:
            for word in fed_by.words[1:]:
                if not _is_option(word) and not _ONLY_FORMAT.fullmatch(word.text):
                    yield from self._secret(word, shape)

    def _secret(self, word: Word, shape: str, behind: str = "") -> Iterator[Span]:
        if shape == "_":
            return
        match = _shaped(shape, behind).fullmatch(word.text)
        if match is not None and not self._is_plain(match.group(1)):
            yield word.start + match.start(1), word.start + match.end(1)


def _is_option(word: Word) -> bool:
    return _OPTION.fullmatch(word.text) is not None and word.text != "-"


def _ends_with(bare: str, option: str, shape: str) -> bool:
    """Whether a cluster of short options ends with this one, whose value is told by its shape: ``-su alice:…``."""
    return (
        len(option) == 2
        and shape not in {"@", "_"}
        and bare.endswith(option[1])
        and bare[:-1].startswith("-")
        and bare[1:].isalpha()
    )


def _shaped(shape: str, behind: str) -> re.Pattern[str]:
    before, _, after = shape.partition("@")
    if before.startswith("_"):
        # Before a slash stands a user's name; without one it is a path.
        before = rf"[^\s{re.escape(before[1:])}]{'+' if before == '_/' else '*'}{re.escape(before[1:])}"
    else:
        before = re.escape(before)
    return re.compile(
        rf"[\"']?{re.escape(behind)}[\"']?{before}[\"']?(.+?){'(?:@[^@]*)?' if after else ''}[\"']?",
        re.DOTALL,
    )
