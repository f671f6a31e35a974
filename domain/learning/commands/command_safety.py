"""Risk of a command line: destructive, sending over a network, or neither; safety class and needed programs.

A conservative static classification before anything runs; the sandbox is the second line of defence.
"""

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from contracts.learning.validation import SafetyClass
from domain.learning.commands.command_line import BUILTINS, SHELLS, Call, calls_in, name_set
from domain.learning.commands.shell_grammar import UnreadableCommand, defined_functions

_HARMLESS_DEVICES = name_set("/dev/null /dev/stdout /dev/stderr /dev/tty")
_ALWAYS_DESTRUCTIVE = name_set(
    """fdisk sfdisk cfdisk parted sgdisk wipefs blkdiscard mkswap shutdown reboot halt poweroff telinit
    killall pkill userdel groupdel deluser dropdb dropuser diskutil cryptsetup lvremove vgremove
    pvremove zpool insmod rmmod modprobe"""
)
_DESTRUCTIVE_SUBCOMMANDS: dict[str, frozenset[str]] = {
    program: name_set(words)
    for program, words in (
        ("systemctl", "stop disable mask kill poweroff reboot halt rescue emergency"),
        ("docker", "rm rmi kill prune down"),
        ("podman", "rm rmi kill prune down"),
        ("kubectl", "delete drain"),
        ("terraform", "destroy apply"),
        ("helm", "uninstall delete rollback"),
        ("apt", "remove purge autoremove"),
        ("apt-get", "remove purge autoremove"),
        ("dnf", "remove erase"),
        ("yum", "remove erase"),
        ("brew", "uninstall remove"),
        ("npm", "uninstall unpublish"),
        ("pip", "uninstall"),
        ("pip3", "uninstall"),
    )
}
_SQL_PROGRAMS = name_set("psql mysql mariadb sqlcmd mongosh redis-cli")
_DESTRUCTIVE_SQL = re.compile(
    r"\b(drop\s+(table|database|schema)|truncate|delete\s+from|flushall|flushdb|dropDatabase)", re.I
)
_ACTS_ON_OPERANDS = name_set("tee truncate touch mkdir chmod chown chgrp rmdir unlink rm shred")
_ACTS_ON_LAST_OPERAND = name_set("cp mv ln install rsync")

_NETWORK_PROGRAMS = name_set(
    """curl wget aria2c http https xh httpie scp sftp ssh ssh-copy-id ftp lftp tftp telnet nc ncat netcat
    socat mail mailx sendmail mutt neomutt msmtp swaks ssmtp aws gcloud gsutil az rclone s3cmd gh hub
    glab kubectl helm ansible ansible-playbook terraform twine xdg-open nmap ping dig nslookup host
    whois mosh rsh rlogin"""
)
_NETWORK_SUBCOMMANDS: dict[str, frozenset[str]] = {
    program: name_set(words)
    for program, words in (
        ("git", "push pull fetch clone ls-remote send-email"),
        ("docker", "push pull login"),
        ("podman", "push pull login"),
        ("npm", "install ci publish login update"),
        ("yarn", "install add publish"),
        ("pnpm", "install add publish"),
        ("pip", "install download"),
        ("pip3", "install download"),
        ("uv", "sync add publish"),
        ("cargo", "publish install fetch"),
        ("gem", "install push"),
        ("go", "get install"),
        ("apt", "install update upgrade"),
        ("apt-get", "install update upgrade"),
        ("dnf", "install update upgrade"),
        ("brew", "install update upgrade"),
    )
}
_REMOTE_PLACE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//).*|rsync://.*")
_GIT_OPTIONS_WITH_VALUE = name_set("-C -c --git-dir --work-tree")


def destroys(call: Call, folder: str) -> str | None:
    """The reason why a call made in ``folder`` (relative to the jail) is destructive, or None."""
    if call.runs_unseen_text:
        return f"{call.program} runs a text that cannot be seen in the command"
    for redirection in call.redirections:
        if redirection.writes and _is_outside(redirection.target, folder):
            return f"it writes to {redirection.target}, outside the rehearsal folder"
    if call.program in _ALWAYS_DESTRUCTIVE or call.program.startswith("mkfs"):
        return f"{call.program} destroys or stops what belongs to the whole machine"
    return _destroys_by_target(call, folder) or _destroys_by_kind(call)


def sends(call: Call) -> str | None:
    """The reason why a call sends something over a network, or None."""
    if call.program in _NETWORK_PROGRAMS:
        return f"{call.program} reaches out over a network"
    if any(r.target.startswith(("/dev/tcp/", "/dev/udp/")) for r in call.redirections):
        return "it opens a network connection through the shell"
    subcommand = subcommand_of(call)
    if subcommand in _NETWORK_SUBCOMMANDS.get(call.program, ()):
        return f"{call.program} {subcommand} reaches out over a network"
    if call.program == "rsync" and any(_REMOTE_PLACE.fullmatch(o) for o in call.operands):
        return "rsync reaches out to another machine"
    return None


def subcommand_of(call: Call) -> str:
    """The first operand (``push`` in ``git -C x push``), or an empty text."""
    skip = False
    for argument in call.arguments:
        if skip or argument.startswith("-"):
            skip = not skip and argument in _GIT_OPTIONS_WITH_VALUE
        else:
            return argument
    return ""


def _destroys_by_target(call: Call, folder: str) -> str | None:
    targets: tuple[str, ...] = ()
    if call.program in _ACTS_ON_OPERANDS:
        targets = call.operands
    elif call.program in _ACTS_ON_LAST_OPERAND:
        targets = call.operands if call.program == "mv" else call.operands[-1:]
    elif call.program == "dd":
        targets = tuple(a.removeprefix("of=") for a in call.arguments if a.startswith("of="))
    elif call.program == "find" and "-delete" in call.arguments:
        targets = call.operands[:1]
    elif call.program == "sed" and call.has_flag("i", "--in-place"):
        targets = call.operands[1:]
    for target in targets:
        if _is_outside(target, folder):
            return f"{call.program} acts on {target}, outside the rehearsal folder"
    if call.program == "rm" and call.has_flag("r", "--recursive"):
        everything = next((t for t in targets if t.rstrip("/") in (".", "*", "./*", ".*", "./.*")), None)
        if everything:
            return f"rm removes everything there is ({everything})"
    return None


def _destroys_by_kind(call: Call) -> str | None:
    subcommand = subcommand_of(call)
    if call.program == "git":
        return _destroys_history(call, subcommand)
    if subcommand in _DESTRUCTIVE_SUBCOMMANDS.get(call.program, ()) or (
        call.program in ("docker", "podman") and "prune" in call.operands
    ):
        return f"{call.program} {subcommand} removes or stops what is in use"
    if call.program in _SQL_PROGRAMS and any(_DESTRUCTIVE_SQL.search(a) for a in call.arguments):
        return f"{call.program} is told to remove data"
    if call.program == "crontab" and call.has_flag("r"):
        return "crontab -r removes every scheduled job"
    if call.program == "kill" and call.arguments[-1:] in (("-1",), ("1",)):
        return "kill acts on every process"
    if call.program == "init" and call.arguments[:1] in (("0",), ("6",)):
        return "init stops the machine"
    return None


def _destroys_history(call: Call, subcommand: str) -> str | None:
    behind = call.arguments[call.arguments.index(subcommand) + 1 :] if subcommand else ()
    rest = Call("git", behind)
    if subcommand == "push" and (
        rest.has_flag("f", "--force", "--force-with-lease", "--mirror", "--prune")
        or rest.has_flag("d", "--delete")
        or any(o.startswith(("+", ":")) for o in rest.operands)
    ):
        return "git push would overwrite or delete what others have"
    if subcommand == "reset" and "--hard" in behind:
        return "git reset --hard throws changes away"
    if subcommand == "clean" and rest.has_flag("f", "--force"):
        return "git clean removes files that are in no version"
    if subcommand in ("filter-branch", "filter-repo"):
        return f"git {subcommand} rewrites the history"
    return None


def _is_outside(target: str, folder: str) -> bool:
    """Whether a path leaves the jail: absolute, in a home folder, or above it. Variables are not expanded."""
    if target in _HARMLESS_DEVICES:
        return False
    if target.startswith(("$TMPDIR/", "${TMPDIR}/")):
        return ".." in target
    if target.startswith(("~", "$HOME", "${HOME")):
        return True
    return posixpath.normpath(posixpath.join(folder, target)).startswith(("/", ".."))


_MASK = re.compile(r"\[MASKED|\[REDACTED|[=:]\*{3,}|(?<!\S)--?[\w-]+\s+['\"]?\*{3,}")

_DELETING = frozenset({"rm", "rmdir", "unlink", "shred", "mv"})
_PATTERN = re.compile(r"[*?\[]")
_FIND_BY_NAME = frozenset({"-name", "-iname", "-path", "-ipath"})
_CHANGING = _DELETING | name_set(
    """chmod chown chgrp ln dd truncate kill pkill killall sed perl install patch git npm pip pip3 pipx make
    cargo go apt apt-get dnf yum brew docker podman crontab systemctl psql mysql sqlite3"""
)
_INTERPRETERS = name_set("python python3 node ruby perl php Rscript awk lua tclsh")
_PROGRAM_NAME = re.compile(r"[A-Za-z0-9_.+@\[-]*[A-Za-z0-9_+\[]")


def destructive_reason(command: str, working_folder: str = ".") -> str | None:
    """The reason why ``command`` is destructive, as a message for people; None when it is not.

    Removing and overwriting files by names that stay inside the rehearsal folder (``working_folder`` is
    relative to it) is not destructive: a rehearsal has only its own files. What cannot be read, or hides what
    it runs, counts as destructive.
    """
    try:
        placed = tuple(_placed_calls(command, working_folder))
        recursive = _calls_itself_in_background(command)
    except UnreadableCommand as error:
        return f"the command cannot be judged: {error}"
    if recursive:
        return "a function calls itself without end"
    return next((reason for call, folder in placed if (reason := destroys(call, folder))), None)


def external_send_reason(command: str) -> str | None:
    """The reason why ``command`` uses the network, as a message for people; None when it does not."""
    try:
        return next((reason for reason in map(sends, calls_in(command)) if reason), None)
    except UnreadableCommand as error:
        return f"the command cannot be judged: {error}"


def holds_masked_secret(command: str) -> bool:
    """Whether redaction masked a secret in the command, so that it cannot be run as recorded.

    Asterisks count where a value belongs: behind ``=``, ``:`` or an option.
    """
    return _MASK.search(command) is not None


def removes_any(command: str, names: Iterable[str], working_folder: str = ".") -> str | None:
    """The first of ``names`` that the command would remove or move; all paths are relative to the jail.

    An unreadable command counts as removing the first of them.
    """
    wanted = tuple(names)
    try:
        operands = [
            posixpath.normpath(posixpath.join(folder, operand))
            for call, folder in _placed_calls(command, working_folder)
            for operand in _removed_operands(call)
        ]
    except UnreadableCommand:
        return wanted[0] if wanted else None
    return next((n for n in wanted if any(_covers(operand, n) for operand in operands)), None)


def deleted_patterns(command: str) -> tuple[str, ...]:
    """The patterns by which the command deletes files, each once: they may name more than was meant to go."""
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        return ()
    return tuple(dict.fromkeys(pattern for call in calls for pattern in _patterns_deleted_by(call)))


def safety_class(commands: Iterable[str]) -> SafetyClass:
    """The safety class of several commands: that of the most dangerous one.

    High: destroys, sends, takes another user's rights, or cannot be read. Medium: removes, moves or changes
    what is there, or runs code whose text is not in the command. Low: reads and creates.
    """
    worst = SafetyClass.LOW
    for command in commands:
        if destructive_reason(command) or external_send_reason(command):
            return SafetyClass.HIGH
        calls = calls_in(command)
        if any(call.is_privileged for call in calls):
            return SafetyClass.HIGH
        if any(_changes(call) for call in calls):
            worst = SafetyClass.MEDIUM
    return worst


_ACTIVATES = re.compile(r"(?:^|[;&|]\s*)(?:\.|source)\s+\S*\bbin/activate\b")
_OF_AN_ENVIRONMENT = name_set("deactivate python python3 pip pip3")


def programs_used(commands: Iterable[str]) -> tuple[str, ...]:
    """The programs the commands need on the search path, each once, in order of first use.

    Left out: what the shell does itself, functions that one of the commands defines or that an activated environment
    brings, programs named by a relative path or by a variable, and commands that cannot be read.
    """
    programs: dict[str, None] = {}
    functions: set[str] = set()
    for command in commands:
        try:
            functions |= defined_functions(command)
            if _ACTIVATES.search(command):
                functions |= _OF_AN_ENVIRONMENT
            for call in calls_in(command):
                if _is_on_search_path(call):
                    programs[call.program] = None
        except UnreadableCommand:
            continue
    return tuple(program for program in programs if program not in functions)


def _removed_operands(call: Call) -> tuple[str, ...]:
    """The operands that a call removes or moves, as written; ``.`` where they come from data."""
    if call.program == "find" and "-delete" in call.arguments:
        return call.operands[:1] or (".",)
    if call.program not in _DELETING:
        return ()
    if call.is_given_more:
        return (".",)
    return call.operands[:-1] if call.program == "mv" else call.operands


def _patterns_deleted_by(call: Call) -> Iterator[str]:
    if call.program in _DELETING - {"mv"}:
        yield from (operand for operand in call.operands if _PATTERN.search(operand))
    if call.program == "find" and {"-delete", *_DELETING} & {*call.arguments}:
        yield from (word for option, word in pairwise(call.arguments) if option in _FIND_BY_NAME)


def _placed_calls(command: str, working_folder: str) -> Iterator[tuple[Call, str]]:
    """Each call with its working folder, which follows ``cd`` and ``pushd``."""
    folder = working_folder
    for call in calls_in(command):
        yield call, folder
        if call.program in ("cd", "pushd") and call.operands:
            folder = posixpath.normpath(posixpath.join(folder, call.operands[0]))


def _is_on_search_path(call: Call) -> bool:
    if call.program in BUILTINS or not _PROGRAM_NAME.fullmatch(call.program):
        return False
    return "/" not in call.path or call.path.startswith("/")


def _changes(call: Call) -> bool:
    if call.program in _CHANGING or call.runs_unseen_text or "$" in call.program:
        return True
    if call.program in SHELLS | _INTERPRETERS or call.program in ("source", ".", "eval"):
        return True
    return "/" in call.path and not call.path.startswith(("/usr/", "/bin/"))


def _covers(operand: str, name: str) -> bool:
    """Whether removing ``operand`` (maybe a pattern, maybe a folder) removes ``name``."""
    parts = name.split("/")
    return operand == "." or any(
        fnmatch.fnmatchcase("/".join(parts[:count]), operand) for count in range(1, len(parts) + 1)
    )


def _calls_itself_in_background(command: str) -> bool:
    names = map(re.escape, defined_functions(command))
    return any(re.search(rf"(?<![\w:]){name}\s*\|\s*{name}(?![\w:])", command) for name in names)
