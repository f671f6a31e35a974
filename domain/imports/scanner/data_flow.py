"""Follow what code fetches, decodes or reads of secrets to where it is run or sent.

No language is parsed: a statement's names are enough. What a statement takes from a source goes into the name or the
file it writes; a later statement that runs or sends that name is the finding.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, WARNS, Found, Weight
from domain.imports.scanner.known_hosts import addresses, collector, well_known
from domain.imports.scanner.mentions import only_named
from domain.imports.scanner.passages import Kind, Passage
from domain.imports.scanner.searching import Search

MAX_STATEMENTS = 5_000
"""Of one file or fence; a longer one is followed so far."""


class Taint(StrEnum):
    """Where a value comes from."""

    REMOTE = "remote"
    VENDOR = "vendor"
    DECODED = "decoded"
    GUARDED = "guarded"
    PRIVATE = "private"


GUARDED_PLACES = (
    r"\.ssh/(?:id_\w+|\*|identity)(?![\w.]*\.pub)(?!\w*\.pub)|\.aws/credentials|\.netrc\b|"
    r"\.git-credentials|\.pypirc|\.npmrc\b|\.docker/config\.json|"
    r"\.kube/config\b|\.gnupg\b|\.config/gcloud|\.azure/|\.(?:openclaw|clawdbot|claude|codex|"
    r"gemini)/[\w./-]*(?:\.env|credentials|auth|token)[\w.]*|"
    r"/etc/shadow|/etc/passwd|Login Data|Web Data|(?<=[/\\])Cookies\b|cookies\.sqlite|logins\.json|"
    r"key[34]\.db|Local Extension Settings|login\.keychain|"
    r"wallet\.dat|exodus\.wallet|(?:Exodus|Electrum|Atomic|Ledger Live|MetaMask)[/\\]|solana/id\.json|"
    r"\.ethereum/keystore|\.electrum|"
    r"\.(?:bash|zsh|python|psql|mysql)_history|(?<![\w.])~/\.env\b|\$HOME/\.env\b"
)
_GUARDED_PLACE = Search(
    GUARDED_PLACES + r"|[\"']\.(?:aws|ssh)[\"']\s*[/,]\s*[\"'](?:credentials|id_\w+)(?![\w.]*pub)",
)
_GUARDED_READS = Search(
    r"\bsecurity\s+(?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bgh\s+auth\s+token\b|"
    r"\bgcloud\s+auth\s+(?:application-default\s+)?print-access-token\b|\baws\s+configure\s+(?:get|"
    r"export-credentials)\b|"
    r"169\.254\.169\.254|metadata\.google\.internal|\bsecretsdump\b|\blsass\b|\bkeyring\.get_password\b|\bop\s+read\b|"
    r"JSON\.stringify\(\s*process\.env\s*\)|(?:dict|str|repr|dumps|"
    r"list)\(\s*(?:dict\()?\s*os\.environ\b(?!\[|\.get)|os\.environ\.(?:items|copy)\(|"
    r"\bprocess\.env\s*[,)}]|\.\.\.process\.env|(?:\$\(|`|^|[;|&]\s*)(?:env|printenv|set|"
    r"export\s+-p)\s*(?:\||\)|`|>)|Get-ChildItem\s+env:|ENV\.to_",
)
_PRIVATE = Search(
    r"(?:~|\$HOME|\$\{HOME\}|home\(\)|homedir\(\)|process\.env\.HOME|%USERPROFILE%|"
    r"expanduser)[^\n]{0,40}(?:Documents|Desktop|Downloads|Pictures|Library/Messages|\.gitconfig|Mail\b)|"
    r"\btar\s+-?\w*c\w*\s[^\n|]{0,60}(?:~|\$HOME|\s\.(?=\s|$)|\$PWD|/home|/Users)|"
    r"\bzip\s+-\w*r\w*\s[^\n|]{0,60}(?:~|\$HOME|\s\.(?=\s|$))|\bpbpaste\b|\bxclip\s+-o\b|Get-Clipboard\b|"
    r"chat\.db\b",
)
_REMOTE = Search(
    r"\burlopen\(|\burlretrieve\(|\brequests\.(?:get|post|request)\(|\bhttpx\.(?:get|post|stream)\(|"
    r"\baiohttp\b|\bfetch\(\s*[\"'`$\w]|\baxios(?:\.\w+)?\(|"
    r"\bhttps?\.get\(|\bgot\(|\bURI\.(?:open|parse)|\bopen\(\s*[\"']https?:|\bNet::HTTP\b|"
    r"file_get_contents\(\s*[\"']https?:|"
    r"(?:\$\(|`)\s*(?:curl|wget)\b|Download(?:String|Data|File)\(|\b(?:iwr|irm|Invoke-WebRequest|"
    r"Invoke-RestMethod)\b|\bcurl_exec\(|\bimportScripts\(\s*[\"']https?:|"
    r"\b(?:curl|wget)\b[^\n|;&]{0,300}(?:\s-o\s*\S|\s-O\b|--output|--remote-name|(?<![2&])>\s*\S)|"
    r"\bwget\s+(?:-\w+\s+)*[\"']?https?:|\bcurl\b[^\n]{0,200}\s-\w*O\w*\b",
)
_DECODED = Search(
    r"\b(?:url_?safe_)?b(?:64|32|85|16)decode\(|\ba85decode\(|\bdecodebytes\(|\bunhexlify\(|\bfromhex\(|"
    r"\bcodecs\.decode\(|\bzlib\.decompress\(|\blzma\.decompress\(|\bbz2\.decompress\(|"
    r"\bgzip\.decompress\(|\bmarshal\.loads?\(|\batob\(|Buffer\.from\([^)\n]{1,4000}[\"'](?:base64|"
    r"hex)[\"']|\bfromCharCode\(|\bunescape\(|\bdecodeURIComponent\(escape|FromBase64String\(|"
    r"\bbase64_decode\(|\bgzinflate\(|\bstr_rot13\(|\bBase64\.(?:strict_|urlsafe_)?decode(?:64)?|"
    r"\.unpack1?\(\s*[\"'](?:m|H)|(?:\$\(|`)[^)`\n]{0,400}\b(?:base64\s+(?:-\w*[dD]|--decode)|xxd\s+-r)|"
    r"join\([^)\n]{0,40}\bchr\(|\bchr\([^)\n]{0,20}\^|base64\s+(?:-\w*[dD]\w*|--decode)[^\n|]{0,80}>\s*\S",
)
_RUNS = Search(
    r"(?<![\w.$>])(?:exec|eval|compile|execSync|execFileSync|system|popen|shell_exec|passthru|__import__|"
    r"assert_options|create_function|Function|instance_eval)\s*\(\s*|"
    r"\bnew\s+Function\s*\(|\b(?:os\.(?:system|popen)|vm\.run\w+|child_process\.exec(?:Sync)?|"
    r"cp\.exec(?:Sync)?|require\([\"'](?:node:)?child_process[\"']\)\.exec(?:Sync)?|globalThis\.eval|"
    r"window\.eval|builtins\.exec|types\.FunctionType)\s*\(\s*|"
    r"\bsubprocess\.\w+\(\s*(?!\[?\s*f?[\"'])\[?\s*|\bsubprocess\.\w+\(\s*\[\s*[\"'](?:\S*/)?(?:(?:ba|"
    r"z)?sh|python[\d.]*|node|perl|cmd|powershell)[\"']\s*,\s*(?:[\"']-\w+[\"']\s*,\s*)?|"
    r"\beval\s+(?=[\"$A-Z(])|\b(?:ba|z|da)?sh\s+-\w*c\s+|\b(?:ba|z|da)?sh\s*<<<\s*|(?:\biex|Invoke-Expression)\b\s*\(?",
)
_RUNS_FILE = Search(
    r"(?:^|[;&|(]\s*|\bthen\s+|\bdo\s+)(?:sudo\s+|nohup\s+|exec\s+)*(?:(?:ba|z|da)?sh|source|\.|"
    r"python[\d.]*|node|perl|ruby|open|xdg-open|start|installer\s+-pkg|msiexec\s+/i|Start-Process|"
    r"dpkg\s+-i|chmod\s+(?:\+x|a\+x|u\+x|7\d\d))\s+(?:-\w+\s+)*[\"']?(?P<file>[^\s\"';|&]+)|"
    r"(?:^|[;&|(]\s*)(?:sudo\s+|nohup\s+|exec\s+)*(?P<own>(?:\./|/|~/|\$HOME/|\$\{?\w+\}?/)[^\s\"';|&)]+)",
)
_SENDS = Search(
    r"\bcurl\b[^\n|;]{0,400}(?:\s-d\b|--data|\s-F\b|--form|\s-T\b|--upload-file|\s--json\b|-X\s*(?:POST|"
    r"PUT)|\s-H\b[^\n]{0,60}\$|https?://[^\s]{0,200}\$)|\|\s*curl\b|\bwget\b[^\n|;]{0,300}(?:--post|"
    r"--body|https?://[^\s]{0,200}[$`])|"
    r"\b(?:requests|httpx|session|client|aiohttp|axios|got|http)\.(?:post|put|patch|request)\(|"
    r"\burlopen\([^\n]{0,300}(?:data\s*=|\+|\{|%)|\bRequest\([^\n]{0,200}data\s*=|\bhttps?\.request\(|"
    r"\bsendBeacon\(|"
    r"\bfetch\([^\n]{0,400}(?:POST|PUT|body|\+|\$\{)|\.send(?:all|to|mail|_message)?\(|\b(?:nc|ncat|"
    r"netcat)\s+(?:-\w+\s+)*\S+\s+\d+|\bscp\s[^\n]{0,200}\S+:|\brsync\s[^\n]{0,200}\S+:|\bsftp\b|"
    r"\bftp\b[^\n]{0,80}\bput\b|"
    r"\b(?:nslookup|dig|host|ping)\b[^\n]{0,60}(?:\$\(|`|\$\w)|\b(?:Invoke-RestMethod|Invoke-WebRequest|"
    r"iwr|irm)\b[^\n]{0,300}(?:-Method\s+Post|-Body|-InFile)|\bUploadString\(|\bUploadFile\(|"
    r"\bNet::HTTP\.post|\bgit\s+push\s+https?:|>\s*/dev/(?:tcp|udp)/",
)
_ENDS_SEND = Search(r"\.end\(|\.write\(")
_OPENS_REQUEST = Search(r"\bhttps?\.request\(")
_ASSIGNS = re.compile(
    r"(?:^|[;{(,]\s*|\b(?:const|let|var|export|local|readonly|my|our|"
    r"set)\s+)\$?([A-Za-z_]\w*)\s*(?::\s*\w+\s*)?=(?![=>~])|"
    r"\bas\s+([A-Za-z_]\w*)\s*:?|\bfor\s+([A-Za-z_]\w*)(?:\s*,\s*[A-Za-z_]\w*)?\s+in\b|"
    r"\bof\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*:=|\bread\s+(?:-\w+\s+)*([A-Za-z_]\w*)"
)
_FILES = re.compile(
    r"(?:\s-o\s*|\s-O\s+|--output[= ]|--output-document[= ]|-OutFile\s+|(?<![0-9&<>-])>{1,2}\s*|"
    r"\btee\s+(?:-a\s+)?|\btar\s+-?\w*c\w*f\s+|\bzip\s+(?:-\w+\s+)*|\burlretrieve\([^,\n]{1,300},\s*|"
    r"\bopen\(\s*(?=[^)]{1,120}[\"']w)|\bwriteFile(?:Sync)?\(\s*|\bcp\s+\S+\s+)"
    r"[\"']?([\w./~${}-]*[\w}])",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[A-Za-z_]\w*")
_PATHS = re.compile(r"[\w./~${}-]*[\w}]")
_HOME_HOSTS = (
    (re.compile(r"\bgh\s+auth\s+token", re.I), "github.com"),
    (re.compile(r"\bgcloud\s+auth", re.I), "googleapis.com"),
    (re.compile(r"169\.254\.169\.254|metadata\.google\.internal", re.I), "169.254.169.254"),
)
_WHY: dict[ScanCode, str] = {
    ScanCode.DOWNLOAD_AND_RUN: (
        "Fetches code and runs it unseen: what runs is not what was reviewed, and can change after the review. "
        "Ship the code in the bundle, or name a package and its version."
    ),
    ScanCode.ENCODED_PAYLOAD: (
        "Decodes a packed text and runs it, so that a reader cannot see what is run. Ship the source itself."
    ),
    ScanCode.CREDENTIAL_THEFT: (
        "Reads keys, passwords, cookies, wallets or the whole environment and sends them elsewhere."
    ),
    ScanCode.EXFILTRATION: "Sends the person's files to somebody else.",
    ScanCode.CREDENTIAL_ACCESS: "Reads keys, passwords, cookies or wallets; ask what for.",
}


@dataclass
class _Known:
    names: dict[str, set[Taint]] = field(default_factory=dict[str, set[Taint]])
    """What each name or file holds."""
    told: set[tuple[ScanCode, int]] = field(default_factory=set[tuple[ScanCode, int]])

    def of(self, text: str) -> set[Taint]:
        if not self.names:
            return set()
        mentioned = {*_NAMES.findall(text), *(_file(one) for one in _PATHS.findall(text))}
        held = (self.names[name] for name in mentioned if name in self.names)
        return set[Taint]().union(*held)


def data_flow_findings(passages: Iterable[Passage]) -> Iterator[Found]:
    """What the statements of one file or fence do together, in their order."""
    known = _Known()
    sending = False
    for number, passage in enumerate(passages):
        if passage.kind is Kind.COMMENT or number > MAX_STATEMENTS:
            continue
        text = passage.text
        if not (passage.words or known.names):
            continue
        taken = _taken(passage)
        carried = taken | known.of(text)
        yield from _runs(passage, taken, known)
        sending = sending or _OPENS_REQUEST.search(passage) is not None
        if carried and (_SENDS.search(passage) or (sending and _ENDS_SEND.search(passage))):
            yield from _sent(passage, carried)
        elif Taint.GUARDED in taken and _reads_secret(text) and not _listed(passage):
            yield Found(
                ScanCode.CREDENTIAL_ACCESS, WARNS, passage.line, text, _WHY[ScanCode.CREDENTIAL_ACCESS]
            )
        if carried or known.names:
            _remember(text, taken, carried, known)


def _taken(passage: Passage) -> set[Taint]:
    taken = set[Taint]()
    if _REMOTE.search(passage):
        taken.add(Taint.VENDOR if well_known(passage.text) else Taint.REMOTE)
    if _DECODED.search(passage):
        taken.add(Taint.DECODED)
    if _GUARDED_PLACE.search(passage) or _GUARDED_READS.search(passage):
        taken.add(Taint.GUARDED)
    if _PRIVATE.search(passage):
        taken.add(Taint.PRIVATE)
    return taken


def _runs(passage: Passage, taken: set[Taint], known: _Known) -> Iterator[Found]:
    at, held = _run_of(passage, taken, known)
    if Taint.DECODED in held:
        code, weight = ScanCode.ENCODED_PAYLOAD, BLOCKS
    elif Taint.REMOTE in held:
        code, weight = ScanCode.DOWNLOAD_AND_RUN, BLOCKS
    elif Taint.VENDOR in held:
        code, weight = ScanCode.DOWNLOAD_AND_RUN, WARNS
    else:
        return
    if (code, passage.block) in known.told:
        return
    found = Found(code, weight, passage.line, passage.text, _WHY[code], at)
    if only_named(passage, at, len(passage.text)):
        yield found.named()
    else:
        known.told.add((code, passage.block))
        yield found


def _run_of(passage: Passage, taken: set[Taint], known: _Known) -> tuple[int, set[Taint]]:
    """Where the first run begins, and what the values that are run come from."""
    text = passage.text
    at, held = len(text), set[Taint]()
    for run in _RUNS.finditer(passage):
        argument = text[run.end() :]
        literal = argument[:1] in "\"'" and "$" not in argument[:3] and run[0].rstrip().endswith("(")
        if argument[:1] != ")" and not literal:
            at = min(at, run.start())
            held |= taken | known.of(argument[:400])
    for run in _RUNS_FILE.finditer(passage):
        name = _file(run["file"] or run["own"] or "")
        if name in known.names or (name and name in _written(text[: run.start()])):
            at = min(at, run.start())
            held |= known.names.get(name, set()) | (taken & {Taint.REMOTE, Taint.VENDOR, Taint.DECODED})
    return at, held


def _sent(passage: Passage, carried: set[Taint]) -> Iterator[Found]:
    text = passage.text
    if Taint.GUARDED in carried and not _goes_home(text):
        code, weight = ScanCode.CREDENTIAL_THEFT, BLOCKS
    elif Taint.PRIVATE in carried:
        code, weight = ScanCode.EXFILTRATION, _private_weight(text)
    else:
        return
    found = Found(code, weight, passage.line, text, _WHY[code])
    yield found.named() if only_named(passage, 0, len(text)) else found


def _private_weight(text: str) -> Weight:
    return BLOCKS if collector(text) or addresses(text) else WARNS


def _goes_home(text: str) -> bool:
    return any(
        read.search(text) and all(host in one for one in addresses(text)) for read, host in _HOME_HOSTS
    )


_READING = re.compile(
    r"\b(?:cat|cp|tar|zip|base64|open|read\w*|connect|copy\w*|find-generic-password|"
    r"find-internet-password|dump-keychain|glob)\b",
    re.IGNORECASE,
)
_GRAVE = re.compile(
    r"\.ssh/id_|/Cookies|Login Data|logins\.json|key4\.db|wallet|keychain|find-(?:generic|"
    r"internet)-password|/etc/shadow|keystore|solana/id",
    re.IGNORECASE,
)


def _reads_secret(text: str) -> bool:
    return bool(_READING.search(text) and _GRAVE.search(text))


def _listed(passage: Passage) -> bool:
    return only_named(passage, 0, len(passage.text))


def _remember(text: str, taken: set[Taint], carried: set[Taint], known: _Known) -> None:
    written = {name for found in _ASSIGNS.findall(text) for name in found if name}
    written |= _written(text)
    if Taint.REMOTE in taken or Taint.VENDOR in taken:
        written |= {one.rstrip("/").rsplit("/", 1)[-1] for one in addresses(text) if one.count("/") > 2}
    for name in written:
        if carried and name:
            known.names[name] = known.names.get(name, set()) | carried
        else:
            known.names.pop(name, None)


def _written(text: str) -> set[str]:
    """The files that a statement writes."""
    return {_file(one) for one in _FILES.findall(text)}


def _file(name: str) -> str:
    return name.strip("\"'").removeprefix("./").rstrip("/")
