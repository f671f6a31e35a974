"""What is known of single programs: which calls destroy something, and which reach outside over a network."""

import posixpath
import re

from domain.learning.shell_calls import Call, name_set

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
    """Why this call is destructive when made in ``folder`` (relative to the jail), or None."""
    if call.runs_unseen_text:
        return f"{call.program} runs a text that cannot be seen in the command"
    for redirection in call.redirections:
        if redirection.writes and _is_outside(redirection.target, folder):
            return f"it writes to {redirection.target}, outside the rehearsal folder"
    if call.program in _ALWAYS_DESTRUCTIVE or call.program.startswith("mkfs"):
        return f"{call.program} destroys or stops what belongs to the whole machine"
    return _destroys_by_target(call, folder) or _destroys_by_kind(call)


def sends(call: Call) -> str | None:
    """Why this call reaches outside over a network, or None."""
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
    """Whether a target is not inside the jail: absolute, in a home, or above it. Variables are not known."""
    if target in _HARMLESS_DEVICES:
        return False
    if target.startswith(("$TMPDIR/", "${TMPDIR}/")):
        return ".." in target
    if target.startswith(("~", "$HOME", "${HOME")):
        return True
    return posixpath.normpath(posixpath.join(folder, target)).startswith(("/", ".."))
