"""Commands that do harm in one line: download or decode and run, reverse shells, persistence, disabled protection."""

import re
from collections.abc import Iterator

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.destructive import DESTRUCTIVE
from domain.imports.scanner.findings import BLOCKS, HINTS, WARNS, Found, Weight
from domain.imports.scanner.known_hosts import well_known
from domain.imports.scanner.led_elsewhere import COMMANDS_LED_ELSEWHERE
from domain.imports.scanner.mentions import only_named
from domain.imports.scanner.passages import PROGRAMS, Kind, Passage
from domain.imports.scanner.rules import Rule, rule
from domain.imports.scanner.searching import Search, by_words

_FETCH = (
    r"\b(?:curl|wget|aria2c|http|https|xh|lwp-download|lynx\s+-source|"
    r"fetch\s+-o\s*-)\b(?!\s*=)(?=[^|;&\n]{0,300}(?:[:/.$]|--))[^|;&\n]{0,600}"
)
_PS_FETCH = (
    r"(?:\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|Start-BitsTransfer|curl|wget)\b|"
    r"Download(?:String|Data|File)\b|Net\.WebClient)"
)
_PS_RUN = r"\b(?:iex|Invoke-Expression|Invoke-Command)\b"
_AS = (
    r"(?:(?:sudo|doas|nohup|env|exec|command|time|busybox)\s+(?:-\w+\s+|"
    r"\w+=\S*\s+)*)*(?:(?:/usr)?(?:/local)?/bin/(?:env\s+)?)?"
)
_SHELLS = r"(?:ba|z|da|k|fi|c|tc|a)?sh\b(?!\w*\.)"
_INTERPRETERS = (
    r"(?:python[\d.]*|node|deno|bun|perl|ruby|php|osascript|lua|pwsh|powershell)\b(?!\s+(?:-c|-m|-e|-ne|"
    r"-pe|-r|-p|--eval|\S+\.\w+))"
)
_RUNS_INPUT = rf"{_AS}(?:{_SHELLS}|{_INTERPRETERS}|(?:source|\.)\s+/dev/stdin|xargs\s[^|]{{0,60}}{_SHELLS})"
_STAGES = r"(?:\|(?!\|)[^|\n]{0,200}){0,6}?"
_DECODES = (
    r"(?:base(?:64|32)\s+(?:-\w*[dD]\w*|--decode)|xxd\s+(?:-\w+\s+)*-r|openssl\s+(?:enc|base64)\b[^|]{0,80}\s-d\b|"
    r"openssl\s+(?:base64\s+)?-d\b|uudecode|rev\b|tr\s+['\"]?(?:a-zA-Z|A-Za-z|\[?A-Z)|"
    r"printf\s+['\"]?(?:%b['\"]?\s+['\"]?)?(?:\\x?[0-9a-f]{2,3}){4})"
)
_RC = (
    r"[\"']?(?:~|\$HOME|\$\{HOME\}|/root|/home/[\w$.{}-]+|/Users/[\w$.{}-]+)/\.(?:bashrc|bash_profile|"
    r"bash_login|profile|zshrc|zprofile|zshenv|zlogin|kshrc|config/fish/[\w.]+)|/etc/(?:profile|"
    r"bash\.bashrc|zsh/\w+)\b"
)


_RUN_WHY = (
    "Fetches code and runs it unseen: what runs is not what was reviewed, and can change after the review. "
    "Ship the code in the bundle, or name a package and its version."
)
_DECODED_WHY = (
    "Decodes a packed text and runs it, so that a reader cannot see what is run. Ship the source itself."
)
_DOOR_WHY = "Connects a shell to another machine and lets whoever is there run commands."
_STAYS_WHY = "Makes something start again by itself after the skill has ended."
_GUARD_WHY = "Switches off what protects the person and the machine."

_DOWNLOADS = (
    rule(ScanCode.DOWNLOAD_AND_RUN, rf"{_FETCH}{_STAGES}\|\s*{_RUNS_INPUT}", _RUN_WHY),
    rule(
        ScanCode.DOWNLOAD_AND_RUN,
        rf"(?:{_SHELLS}\s+(?:-\w+\s+)*|\beval\s+|\bsource\s+|(?:^|[;&|\s])\.\s+|\bexec\s+|"
        rf"python[\d.]*\s+(?:-c\s+)?|node\s+(?:-e\s+)?)"
        rf"[\"']?(?:\$\(|<\(|`)\s*{_FETCH}",
        _RUN_WHY,
    ),
    rule(ScanCode.DOWNLOAD_AND_RUN, rf"{_SHELLS}\s*<<<\s*[\"']?\$\(\s*{_FETCH}", _RUN_WHY),
    rule(
        ScanCode.DOWNLOAD_AND_RUN,
        rf"{_PS_RUN}[^\n]{{0,200}}{_PS_FETCH}|{_PS_FETCH}[^\n]{{0,300}}\|\s*{_PS_RUN}",
        _RUN_WHY,
    ),
    rule(
        ScanCode.DOWNLOAD_AND_RUN,
        r"\bmshta(?:\.exe)?\s+[\"']?(?:https?|javascript|vbscript):|\bregsvr32\b[^\n]{0,80}/i:https?:|"
        r"\brundll32\b[^\n]{0,80}(?:javascript:|https?:)|\bmsiexec\b[^\n]{0,60}/i\s*[\"']?https?:|"
        r"\bcertutil\b[^\n]{0,80}-urlcache|\bbitsadmin\b[^\n]{0,80}/transfer",
        _RUN_WHY,
    ),
    rule(
        ScanCode.DOWNLOAD_AND_RUN,
        r"\b(?:python[\d.]*|node|perl|ruby|php)\s+-(?:c|e|r)\s+[^\n]{0,200}\b(?:exec|eval|"
        r"system)\b[^\n]{0,200}https?://|"
        r"\b(?:python[\d.]*|node|perl|ruby|php)\s+-(?:c|e|r)\s+[^\n]{0,200}https?://[^\n]{0,200}\b(?:exec|"
        r"eval|system)\b",
        _RUN_WHY,
    ),
    rule(ScanCode.DOWNLOAD_AND_RUN, r"\bosascript\b[^\n]{0,80}do shell script[^\n]{0,80}\bcurl\b", _RUN_WHY),
    rule(
        ScanCode.DOWNLOAD_AND_RUN,
        r"\b(?:pip3?|uv pip|pipx|npm|pnpm|yarn|bun|gem)\s+(?:install|add|i)\s[^\n|;&]{0,120}(?:git\+)?https?://|"
        r"\bdeno\s+run\s[^\n]{0,80}https?://|\bgo\s+run\s+https?://|--(?:extra-)?index-url[= ]\s*http",
        "Installs or runs code from an address instead of a named package: what is there can change after the review.",
        WARNS,
        HINTS,
    ),
)

_HARMFUL = (
    rule(ScanCode.ENCODED_PAYLOAD, rf"{_DECODES}[^|\n]{{0,200}}{_STAGES}\|\s*{_RUNS_INPUT}", _DECODED_WHY),
    rule(
        ScanCode.ENCODED_PAYLOAD,
        rf"(?:{_SHELLS}\s+(?:-\w+\s+)*|\beval\s+|\bsource\s+)[\"']?(?:\$\(|<\(|`)[^)`\n]{{0,400}}{_DECODES}",
        _DECODED_WHY,
    ),
    rule(ScanCode.ENCODED_PAYLOAD, rf"{_SHELLS}\s*<<<\s*[\"']?\$\([^)\n]{{0,400}}{_DECODES}", _DECODED_WHY),
    rule(
        ScanCode.ENCODED_PAYLOAD,
        r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,200}\s[-/]e(?:n|nc|nco|ncod|ncode|ncoded|ncodedcommand|"
        r"c)?\s+[\"']?[A-Za-z0-9+/=]{16,}",
        _DECODED_WHY,
    ),
    rule(
        ScanCode.ENCODED_PAYLOAD,
        rf"{_PS_RUN}[^\n]{{0,200}}FromBase64String|FromBase64String[^\n]{{0,300}}\|\s*{_PS_RUN}",
        _DECODED_WHY,
    ),
    rule(
        ScanCode.REVERSE_SHELL,
        rf"{_SHELLS}\s+-\w*i\w*\b[^\n]{{0,60}}/dev/(?:tcp|udp)/|/dev/(?:tcp|udp)/[^\n]{{0,60}}\b0>&1|"
        rf"\bexec\s+\d+<>\s*/dev/(?:tcp|udp)/",
        _DOOR_WHY,
    ),
    rule(
        ScanCode.REVERSE_SHELL,
        rf"\b(?:nc|ncat|netcat)(?:\.\w+)?\b[^\n|;]{{0,80}}\s(?:-\w*[ec]|"
        rf"--(?:sh-)?exec)\s+[\"']?(?:\S*/)?(?:{_SHELLS}|cmd|powershell)",
        _DOOR_WHY,
    ),
    rule(
        ScanCode.REVERSE_SHELL,
        rf"\bmkfifo\b[^\n]{{0,200}}{_SHELLS}[^\n]{{0,120}}\b(?:nc|ncat|netcat|openssl|telnet)\b",
        _DOOR_WHY,
    ),
    rule(
        ScanCode.REVERSE_SHELL, rf"\bsocat\b[^\n]{{0,200}}\b(?:exec|system):[^\n]{{0,40}}{_SHELLS}", _DOOR_WHY
    ),
    rule(
        ScanCode.REVERSE_SHELL,
        r"(?:TCPSocket\.(?:open|new)|fsockopen|socket\s*\(\s*S\b|IO::Socket::INET|"
        r"use Socket)[^\n]{0,300}(?:exec|system|popen|proc_open|spawn)\b[^\n]{0,60}(?:/bin/(?:ba|z)?sh|"
        r"cmd\.exe)",
        _DOOR_WHY,
    ),
    rule(ScanCode.REVERSE_SHELL, rf"TCPClient[^\n]{{0,400}}(?:{_PS_RUN}|cmd\.exe|powershell)", _DOOR_WHY),
    rule(
        ScanCode.PERSISTENCE,
        r"\|\s*(?:sudo\s+)?crontab\s+(?:-u\s+\w+\s+)?-(?=\s|$|[`'\"\\)])|(?:>>?|\btee\s+(?:-a\s+)?|"
        r"\bcp\s+\S+\s+|\bmv\s+\S+\s+)\s*[\"']?(?:/etc/cron|/var/spool/cron)",
        _STAYS_WHY,
        BLOCKS,
        WARNS,
    ),
    rule(
        ScanCode.PERSISTENCE,
        r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\"']?\S{0,80}\.ssh/authorized_keys",
        "Lets the owner of a key sign in on this machine.",
    ),
    rule(
        ScanCode.PERSISTENCE,
        r"(?:>>?|\btee\s+(?:-a\s+)?|\b(?:cp|mv|install|"
        r"ln)\s[^\n;|&]{1,200})\s*[\"']?\S{0,80}(?:Library/Launch(?:Agents|Daemons)|\.config/autostart|"
        r"systemd/(?:user|system)|Programs.Startup)[\\/]|"
        r"\blaunchctl\s+(?:load|bootstrap|enable|submit)\b|\bsystemctl\s+(?:--user\s+)?(?:--now\s+)?enable\b",
        _STAYS_WHY,
        BLOCKS,
        WARNS,
    ),
    rule(
        ScanCode.PERSISTENCE,
        r"\b(?:reg(?:\.exe)?\s+add|New-ItemProperty|Set-ItemProperty|sp)\b[^\n]{0,200}CurrentVersion\\Run|"
        r"\bschtasks(?:\.exe)?\b[^\n]{0,20}/create|\bRegister-ScheduledTask\b|\bmake login item\b|"
        r"\bsc(?:\.exe)?\s+create\s+\w+\s+binpath",
        _STAYS_WHY,
        BLOCKS,
        WARNS,
    ),
    rule(
        ScanCode.PERSISTENCE,
        r"(?:>>?|\btee\s+|\b(?:cp|mv|ln)\s[^\n;|&]{1,200})\s*[\"']?\S{0,80}\.git/hooks/|core\.hooksPath\s+\S",
        _STAYS_WHY,
        WARNS,
        HINTS,
    ),
    rule(
        ScanCode.SAFETY_DISABLED,
        r"--dangerously-(?:skip-permissions|bypass-approvals-and-sandbox)|\bbypassPermissions\b|\b(?:gemini|"
        r"codex|claude|aider|agent|openclaw|qwen)\b[^\n]{0,60}\s--(?:yolo|yes-always|full-auto)\b|"
        r"\bexec\.ask\s+off\b",
        "Lets an agent act without asking the person.",
    ),
    rule(
        ScanCode.SAFETY_DISABLED,
        r"\bspctl\b[^\n]{0,40}--(?:master|global)-disable|\bcsrutil\s+disable|"
        r"\bSet-MpPreference\b[^\n]{0,120}-Disable\w+|\bAdd-MpPreference\b[^\n]{0,60}-Exclusion\w+|"
        r"\bamsi(?:InitFailed|Utils|ScanBuffer)\b|"
        r"\bsetenforce\s+0\b|\bufw\s+disable\b|\bnetsh\s+advfirewall\b[^\n]{0,60}\bstate\s+off|"
        r"\bauditctl\s+-e\s*0|\bapparmor\w*\s+(?:stop|disable|teardown)",
        _GUARD_WHY,
    ),
    rule(
        ScanCode.SAFETY_DISABLED,
        r"\bxattr\s+(?:-\w+\s+)*-\w*[dc]\w*\s",
        "Takes the mark off that has macOS check a program before it is opened.",
        BLOCKS,
        WARNS,
    ),
    rule(
        ScanCode.SAFETY_DISABLED,
        r"\bhistory\s+-c\b|\bunset\s+HISTFILE\b|\bHISTFILE=/dev/null|\b(?:rm|shred|"
        r"truncate)\b[^\n;|]{0,60}\.(?:bash|zsh|python)_history|\bwevtutil\s+cl\b|\bClear-EventLog\b",
        "Wipes the record of what was done.",
    ),
    rule(
        ScanCode.SAFETY_DISABLED,
        r"\bNODE_TLS_REJECT_UNAUTHORIZED\W{1,4}0\b|\bverify\s*=\s*False\b|\brejectUnauthorized\s*:\s*false|"
        r"http\.sslVerify[= ]false|\b_create_unverified_context\b|"
        r"\bSet-ExecutionPolicy\b[^\n]{0,60}\b(?:Bypass|Unrestricted)\b|\biptables\s+-F\b|"
        r"\bStrictHostKeyChecking[= ]no\b",
        "Switches off a check of certificates, hosts or scripts.",
        WARNS,
        HINTS,
    ),
)
_candidates = by_words((*_DOWNLOADS, *_HARMFUL, *DESTRUCTIVE, *COMMANDS_LED_ELSEWHERE))
_RC_APPENDS = (
    Search(rf"(?:>>|(?<!\d)>|\btee\s+(?:-a\s+)?)\s*(?:{_RC})"),
    Search(
        r"\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv)\b[^\n]{0,60}(?:open\(\s*[\"'](?:a|w|r\+)|"
        r"[\"']\s*,\s*[\"'](?:a|w|r\+)|\.write_text|appendFile|writeFile)|(?:appendFile|"
        r"writeFile)\w*\([^\n]{0,80}\.(?:bashrc|profile|zshrc|zprofile|zshenv)\b",
    ),
)
_ONLY_A_PATH = re.compile(
    r"\b(?:export\s+)?(?:PATH|MANPATH|[A-Z][A-Z_]*(?:_HOME|_ROOT|_DIR|_PATH))=|\balias\s+\w+=|"
    r"\bfish_add_path\b|\beval \"\$\((?:direnv|starship|zoxide|pyenv|rbenv|fnm|mise|brew|conda)\b",
    re.IGNORECASE,
)
_RUNS_TEXT = re.compile(
    r"\b(?:os\.(?:system|popen|exec\w*|spawn\w*)|subprocess\.\w+|check_(?:output|call)|Popen|run|execSync|"
    r"exec|spawn(?:Sync)?|execFile(?:Sync)?|execa|shell_exec|"
    r"passthru|proc_open|popen|system|sh|shell|bash|Command(?:::new)?|\$)\s*[(`]|^\s*\"?(?:pre|"
    r"post)?(?:install|prepare|start|test|build|publish|command|cmd|run|script|entrypoint|exec\w*)\"?\s*:",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:print|puts|echo|console\.(?:log|info|error|warn)|Write-Host|Write-Output|System\.out\.print\w*|"
    r"fmt\.Print\w*)\b",
    re.IGNORECASE,
)


def harmful_commands(passage: Passage) -> Iterator[Found]:
    """Each rule's first place in the passage."""
    if passage.kind is Kind.COMMENT or not passage.words:
        return
    for one in _candidates(passage.words):
        match = one.pattern.search(passage)
        if match is None:
            continue
        weight = _weight(one, match, passage)
        found = Found(one.code, weight, passage.line, passage.text, one.why, match.start())
        yield found.named() if _not_run(passage, match, own_call=one.own_call) else found
    for pattern in _RC_APPENDS:
        match = pattern.search(passage)
        if match is not None:
            harmless = _ONLY_A_PATH.search(passage.text) and "curl" not in passage.text
            weight = WARNS if harmless else BLOCKS
            found = Found(
                ScanCode.PERSISTENCE,
                weight,
                passage.line,
                passage.text,
                f"{_STAYS_WHY} It writes into a file that each new shell runs.",
                match.start(),
            )
            yield found.named() if _not_run(passage, match) else found
            break


def is_run(passage: Passage) -> bool:
    """Whether a command in the text of this passage is handed to something that runs or shows it."""
    if passage.language not in PROGRAMS and passage.language != "data":
        return True
    return bool(_RUNS_TEXT.search(passage.text) or _SAYS.search(passage.text))


def _not_run(passage: Passage, match: re.Match[str], *, own_call: bool = False) -> bool:
    if only_named(passage, match.start(), match.end()):
        return True
    of_shells = not own_call and _is_of_shells(match)
    return passage.kind is Kind.CODE and of_shells and not is_run(passage)


def _is_of_shells(match: re.Match[str]) -> bool:
    return not re.search(
        r"dup2|TCPSocket|fsockopen|TCPClient|verify|reject|_create_unv|open\(|write|amsi",
        match[0],
        re.IGNORECASE,
    )


def _weight(of: Rule, match: re.Match[str], passage: Passage) -> Weight:
    if of.code is ScanCode.DOWNLOAD_AND_RUN and of.weight is BLOCKS and well_known(match[0]):
        return WARNS
    if (of.in_prose is not None and passage.language == "md") or (of.in_prose is not None and passage.fenced):
        return of.in_prose
    return of.weight
