"""Commands that destroy: whole folders of the system or the person, disks, file systems, backups.

What decides is what a command is turned on: `rm -rf build` tidies up, `rm -rf ~` destroys.
"""

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, HINTS, WARNS, Weight
from domain.imports.scanner.rules import Rule, rule

_HOME = r"(?:~|\$HOME\b|\$\{HOME\}|/(?:home|Users)/[\w.${}-]+|/root\b)[\"']?"
_PERSONAL = (
    r"(?:Documents|Desktop|Pictures|Photos|Downloads|Music|Movies|Videos|Library|\.ssh|\.gnupg|\.config|\.aws|"
    r"\.password-store)"
)
_SYSTEM = (
    r"/(?:bin|boot|dev|etc|home|lib(?:32|64)?|opt|proc|sbin|srv|sys|usr(?:/(?:bin|lib|local|sbin|share))?|var|Users|"
    r"System|Library|Applications|mnt|media)"
)
_ALL_OF = r"(?:/\.?\*?)?"
_END = r"[\"']?(?=[\s;|&)`\"',]|\.(?:\s|$)|$)"
_WHOLE = rf"[\"']?(?:(?:{_HOME}(?:/{_PERSONAL})?|{_SYSTEM}){_ALL_OF}|/\.?\*){_END}"
"""A folder of the system or of the person, or all that is in it; no folder below."""

_ROOT = rf"[\"']?/{_END}"
_ARGUMENTS = r"[^\n;|&]{0,200}?\s"
_RECURSIVELY = r"(?=[^\n;|&]{0,200}\s(?:-\w*r\w*|--recursive)\b)"
_FLAGS = r"\s+(?:-\S+\s+)*"
_DISK = r"[\"']?/dev/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d)"
_HOME_IN_CODE = (
    r"(?:[\w.]*\bPath\.home\(\)|[\w.]*expanduser\(\s*[\"']~/?[\"']\s*\)|"
    r"os\.environ(?:\.get\(|\[)\s*[\"'](?:HOME|USERPROFILE)[\"']\s*[)\]]|Path\(\s*[\"'](?:/|~)[\"']\s*\)(?:\.expanduser\(\))?|"
    r"(?:require\(\s*[\"'](?:node:)?os[\"']\s*\)\.|os\.)?homedir\(\)|process\.env\.(?:HOME|USERPROFILE)\b|Dir\.home\b|"
    r"ENV\[[\"']HOME[\"']\]|[\"'](?:/|~/?|/(?:bin|boot|etc|home|lib|opt|root|usr|var|Users|System|Library)/?|[a-z]:[\\/]+)[\"'])"
)
_WINDOWS_WHOLE = (
    r"[\"']?(?:[a-z]:[\\/]?(?:(?:Windows|Users)[\\/]?)?|%(?:USERPROFILE|SystemRoot|SystemDrive)%[\\/]?|"
    r"\$env:(?:USERPROFILE|SystemRoot|SystemDrive|HOMEPATH)[\\/]?|(?:\$HOME|~)[\\/]?)\*?[\"']?(?=[\s;|&,`]|$)"
)

_FOLDERS_WHY = (
    "Deletes whole folders of the system or of the person. Name the folder that the skill made itself."
)
_DISK_WHY = "Overwrites a disk: everything on it is lost. Write to a file, or leave it to the person."
_SYSTEM_WHY = "Leaves the machine unusable."
_BACKUPS_WHY = "Destroys the copies from which lost files are brought back."
_SERVICE_WHY = "Destroys what a service holds, and not only what the skill made."


def _destroys(
    pattern: str, why: str, weight: Weight = BLOCKS, in_prose: Weight | None = None, *, own_call: bool = False
) -> Rule:
    return rule(ScanCode.DESTRUCTIVE, pattern, why, weight, in_prose, own_call=own_call)


DESTRUCTIVE = (
    _destroys(rf"\brm\b{_RECURSIVELY}(?:{_FLAGS}{_ROOT}|{_ARGUMENTS}{_WHOLE})", _FOLDERS_WHY),
    _destroys(r"\brm\b[^\n;|&]{0,200}--no-preserve-root\b", _FOLDERS_WHY),
    _destroys(
        rf"[\"']rm[\"']\s*,\s*[\"']-\w*r\w*[\"']\s*,[^\n\]]{{0,200}}?(?:{_WHOLE}|[\"']/[\"']|{_HOME_IN_CODE})",
        _FOLDERS_WHY,
    ),
    _destroys(
        rf"\bfind\s+(?:{_WHOLE}|{_ROOT})"
        r"(?![^\n;|]{0,300}\s-(?:i?name|i?path|i?wholename|i?regex|empty)\b(?!\s+[\"']?\*[\"']?(?:\s|$)))"
        r"[^\n;|]{0,300}?(?:\s-delete\b|\s-exec(?:dir)?\s+(?:sudo\s+)?(?:rm|shred|unlink)\b|"
        r"\|\s*(?:sudo\s+)?xargs\s[^\n;|]{0,40}?\b(?:rm|shred|unlink)\b)",
        _FOLDERS_WHY,
    ),
    _destroys(
        rf"\bmv\s(?=[^\n;|&<>]{{1,200}}\s/dev/null\b)(?:[^\n;|&<>]{{0,200}}?\s)?{_WHOLE}", _FOLDERS_WHY
    ),
    _destroys(
        r"\b(?:rmtree|rmSync|rmdirSync|removeSync|emptyDirSync|rimraf(?:\.sync)?|fs(?:\.promises)?\.rm|rm_rf?|"
        rf"remove_dir_all|RemoveAll)\s*\(\s*(?:str\()?{_HOME_IN_CODE}\s*\)?\s*(?:,|\)|$)",
        _FOLDERS_WHY,
        own_call=True,
    ),
    _destroys(
        rf"\b(?:rd|rmdir|del|erase)\b(?=[^\n&|]{{0,80}}/s\b)[^\n&|]{{0,80}}?\s{_WINDOWS_WHOLE}|"
        rf"\bRemove-Item\b(?=[^\n;|]{{0,160}}-Recurse\b)[^\n;|]{{0,160}}?\s{_WINDOWS_WHOLE}",
        _FOLDERS_WHY,
    ),
    _destroys(
        rf"\b(?:chmod|chown|chgrp)\b{_RECURSIVELY}{_ARGUMENTS}[\"']?"
        rf"/(?:(?:bin|boot|etc|lib|sbin|usr|var)/?)?{_END}|\bchmod\b{_RECURSIVELY}{_ARGUMENTS}[\"']?{_HOME}/?{_END}",
        "Changes the rights of the whole system or of everything that the person has.",
    ),
    _destroys(
        rf"\bdd\b(?=[^\n;|&]{{0,200}}\bif=/dev/(?:zero|u?random))[^\n;|&]{{0,200}}\bof={_DISK}", _DISK_WHY
    ),
    _destroys(rf"\bdd\b[^\n;|&]{{0,200}}\bof={_DISK}", _DISK_WHY, BLOCKS, WARNS),
    _destroys(rf"(?<!\d)>\s*{_DISK}|\btee\s+{_DISK}", _DISK_WHY),
    _destroys(
        rf"\b(?:mkfs(?:\.\w+)?|mke2fs|mkswap|shred|blkdiscard|cryptsetup\s+(?:luksFormat|luksErase|erase)|"
        rf"nvme\s+format|wipefs\s+(?:-\w*a|--all)|sgdisk\s+(?:-Z|-o|--zap-all|--clear)|"
        rf"hdparm\s[^\n;|&]{{0,80}}--security-erase)\b[^\n;|&]{{0,120}}?\s{_DISK}|"
        rf"\bparted\b[^\n;|&]{{0,80}}{_DISK}[^\n;|&]{{0,80}}\bmklabel\b|"
        r"\bdiskutil\s+(?:eraseDisk|eraseVolume|zeroDisk|randomDisk|secureErase|partitionDisk)\b|"
        r"\bformat(?:\.com)?\s+[a-z]:\s*/\w|\b(?:Clear-Disk|Format-Volume)\b",
        _DISK_WHY,
        BLOCKS,
        WARNS,
    ),
    _destroys(
        r":\s*\(\)\s*\{\s*:\s*\|\s*:\s*&|\bkill\s+(?:-9|-KILL|-s\s+(?:9|KILL))\s+(?:--\s+)?-1\b|>\s*/proc/sysrq-trigger\b|"
        r"(?<![>\d])>\s*/etc/(?:passwd|shadow|sudoers|fstab)\b",
        _SYSTEM_WHY,
    ),
    _destroys(
        r"\bvssadmin\b[^\n]{0,20}\bdelete\s+shadows|\bwmic\b[^\n]{0,20}\bshadowcopy\s+delete|"
        r"\bwbadmin\s+delete\s+(?:catalog|backup|systemstatebackup)|\bbcdedit\b[^\n]{0,80}\brecoveryenabled\s+no\b|"
        r"\btmutil\s+delete\b",
        _BACKUPS_WHY,
    ),
    _destroys(
        r"\bcrontab\s+(?:-u\s+\w+\s+)?-r\b", "Deletes all jobs that the person has set up.", WARNS, HINTS
    ),
    _destroys(
        r"\bredis-cli\b[^\n]{0,80}\bFLUSHALL\b|\bdb\.dropDatabase\(|\bterraform\s+destroy\b[^\n]{0,80}-auto-approve|"
        r"\baws\s+s3\s+rb\b[^\n]{0,80}--force|\bkubectl\s+delete\b[^\n]{0,80}\s--all\b|\bgcloud\s+projects\s+delete\b|"
        r"\bgit\s+push\b(?=[^\n;|&]{0,80}\s(?:-f|--force|--delete|-d)\b)[^\n;|&]{0,80}\s(?:main|master)\b",
        _SERVICE_WHY,
        WARNS,
        HINTS,
    ),
)
