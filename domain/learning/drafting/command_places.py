"""Find the command that a revision's words mean, by number, program, text or what it does, and what depends on it."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.learning.evidence import CommandUse
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import appends, name_set, parts_of, programs_in
from domain.learning.commands.operations import RUN, SYNONYMS, gives_way, operation_of
from domain.learning.comparison.made_up import made_folders
from domain.learning.drafting.instruction_places import Places, refused, unquoted
from domain.learning.interpretation.slicing import defines_for, parent_folders

_NOUN = r"command|line|call"
_ANY_NOUN = rf"{_NOUN}|step|part"
_CLAUSE = re.compile(
    rf"(?:(?:the\s+)?(?:{_ANY_NOUN})\s+(?:that|which|where\s+(?:it|you|I))|what)\s+(\w+)\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_WITH_NOUN = re.compile(
    rf"(?:the\s+)?(?:{_NOUN})s?\b.*|(?:the\s+)?.+\s(?:{_NOUN})s?", re.IGNORECASE | re.DOTALL
)
_BARE = re.compile(rf"(?:the\s+)?(.+?)(?:\s+(?:{_ANY_NOUN}))?", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(
    r"(?i)(?:no\.?\s*|number\s+|nr\.?\s*)?#?(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b"
)
_OF_CHECKPOINTS = name_set("says reads is are about looks verifies checks")

_LITTLE = name_set(
    """a an all and any as at be by each every for from in into is it its of off on or over the their them then this
    that these those to up with anything everything something whatever file files folder folders result
    results data thing things old temporary temp intermediate new own again also any more anymore please
    afterwards first last step command"""
)
"""Words that tell no command from another."""

_WORD = re.compile(r"[^\W_]+")
_MAKING = name_set("make create write produce generate build save")
_TAKING = name_set("delete remove erase clear clean unlink throw drop discard")
_MOVING = name_set("move rename relocate")
_ALSO = {
    "mkdir": "make create folder directory prepare",
    "chmod": "permission mode executable rights protect change set",
    "chown": "owner ownership change set",
    "ln": "link symlink",
    "tar": "archive pack compress bundle",
    "zip": "archive pack compress bundle",
    "gzip": "compress pack archive",
    "xz": "compress pack archive",
    "bzip2": "compress pack archive",
    "sed": "replace substitute edit change filter",
    "uniq": "duplicate deduplicate unique repeated filter",
    "wc": "count number",
    "cp": "copy duplicate backup back",
    "curl": "download fetch get load",
    "wget": "download fetch get load",
    "sha256sum": "checksum hash digest",
    "md5sum": "checksum hash digest",
    "convert": "resize convert shrink scale",
    "mogrify": "resize convert shrink scale",
    "split": "split divide cut",
    "head": "cut shorten limit first",
    "grep": "filter search find select",
    "awk": "compute sum add filter",
    "touch": "touch mark create",
}
"""What else people call the work of a program than its operation says."""


_KINDS = {
    **dict.fromkeys(("tgz", "gz", "tar", "zip", "xz", "bz2", "7z"), "archive package"),
    **dict.fromkeys(("jpg", "jpeg", "png", "gif", "webp", "svg"), "photo picture image"),
    **dict.fromkeys(("csv", "tsv", "xlsx"), "table list"),
    **dict.fromkeys(("txt", "lst"), "text list"),
    **dict.fromkeys(("bak", "orig"), "copy backup"),
    **dict.fromkeys(("log",), "log"),
}
"""What people call files, by their extensions."""

_WITH_SUBCOMMANDS = name_set(
    "git npm yarn pip docker podman cargo go apt kubectl make conda svn hg brew uv poetry"
)
_REPLACING = name_set("cp mv install tar tee ln rsync curl wget")
"""Programs that write a file anew, whatever was there."""


@dataclass(frozen=True)
class Commands:
    """The commands of the draft as it is shown, with the files that each used; ``obstacle`` says why none can go."""

    shown: Sequence[RehearsalCommand] = ()
    uses: Mapping[str, CommandUse] = field(default_factory=dict[str, CommandUse])
    obstacle: str = ""
    how: str = "remove command"
    """What is said with a number of theirs."""

    def removed(self, said: str) -> tuple[str, ...] | None:
        """The ids of the commands to leave out that ``said`` names; ``None`` where it speaks of none.

        Raises:
            Refusal: ``REVISION_INVALID`` where words that are about a command fit none or several of them.
        """
        text = unquoted(said)
        if clause := _CLAUSE.fullmatch(text):
            verb = clause.group(1).lower()
            found = [] if verb in _OF_CHECKPOINTS else self._doing(verb, clause.group(2))
            return self._one(text, found) if found else None
        exact = [one for one in self.shown if " ".join(one.command.split()) == text]
        if exact and len(text.split()) > 1:
            return self._one(text, exact)
        if _WITH_NOUN.fullmatch(text):
            return self._with_noun(text)
        bare = _BARE.fullmatch(text)
        if bare and (several := self._each(bare.group(1))):
            return several
        found = self._bare(bare.group(1)) if bare else []
        return self._one(text, found) if found else None

    def undone(self, verb: str, what: str) -> tuple[str, ...] | None:
        """The command that does what is not to be done ("do not delete the list"); ``None`` where none does.

        Raises:
            Refusal: ``REVISION_INVALID`` where several do it.
        """
        found = self._doing(verb, what)
        return self._one(f"{verb} {what}".strip(), found) if found else None

    def check(self, left_out: Sequence[str]) -> None:
        """Refuses to leave out commands whose result others use.

        Raises:
            Refusal: ``REVISION_INVALID`` with what uses which result, or why no command can be left out here.
        """
        if not left_out:
            return
        if self.obstacle:
            raise refused(self.obstacle)
        gone = set(left_out)
        if unknown := gone - {one.event_id for one in self.shown}:
            raise refused(f"{min(unknown)} is no command of the draft")
        if gone.issuperset(one.event_id for one in self.shown):
            raise refused("a skill needs at least one command")
        for place, one in enumerate(self.shown):
            if one.event_id in gone and (why := self._needed(one, place, gone)):
                raise refused(f"“{clipped(one.command, 60)}” cannot be left out: {why}")

    def _each(self, said: str) -> tuple[str, ...]:
        """The commands where several are named in a row: "the tar and the chmod"; none where one is not known."""
        parts = re.split(r"\s*(?:,\s*(?:and\s+)?|\band\s+)", said)
        found = [self.removed(one) for one in parts] if len(parts) > 1 and all(parts) else []
        return tuple(one for ids in found for one in ids or ()) if all(found) else ()

    def _with_noun(self, text: str) -> tuple[str, ...]:
        """The commands that are called so with the word "command": one has to be meant."""
        places = Places(_NOUN, [one.command for one in self.shown])
        rest = re.sub(rf"(?i)^(?:the\s+)?(?:(?:{_NOUN})s?\b)?\s*|\s+(?:{_NOUN})s?$", "", text)
        rest = unquoted(re.sub(r"(?i)^(?:with|about|called|named|of|for|that runs)\s+(?:the\s+)?", "", rest))
        if _NUMBERED.match(rest) or _is_ordinal(text):
            return tuple(self.shown[n].event_id for n in places.named(text) or ())
        found = self._called(rest.lower()) or [
            one for one in self.shown if rest and rest.casefold() in " ".join(one.command.split()).casefold()
        ]
        if found:
            return self._one(text, found)
        words = _roots(rest)
        fitting = self._doing(words[0], " ".join(words[1:])) if words else []
        return self._one(text, fitting)

    def _one(self, said: str, found: Sequence[RehearsalCommand]) -> tuple[str, ...]:
        if self.obstacle:
            raise refused(self.obstacle)
        if len(found) == 1:
            return (found[0].event_id,)
        numbers = {one.event_id: n for n, one in enumerate(self.shown, start=1)}
        told = found or self.shown
        shown = "; ".join(f"{numbers[one.event_id]}. {clipped(one.command, 40)}" for one in told) or "none"
        how = (
            f"fits several commands; say: {self.how} {numbers[found[0].event_id]}, or which"
            if found
            else "fits no command"
        )
        raise refused(f"“{clipped(said, 40)}” {how} of: {shown}")

    def _bare(self, said: str) -> list[RehearsalCommand]:
        """The commands that a program, a subcommand or a work names: "mv", "git commit", "sorting the names"."""
        first, _, rest = said.partition(" ")
        if not rest:
            return self._called(first.lower()) or [
                one for one in self.shown if {_root(first.lower())} <= _work(one.command)
            ]
        if found := [one for one in self.shown if one.command.startswith(f"{said} ") or one.command == said]:
            return found
        return self._doing(first, rest) if _is_of_doing(said) else []

    def _called(self, name: str) -> list[RehearsalCommand]:
        """The commands that call the program."""
        return [one for one in self.shown if name in programs_in(one.command)]

    def _doing(self, verb: str, what: str) -> list[RehearsalCommand]:
        """The commands that do such work to what is named."""
        wanted = [word for word in _roots(what) if word not in _ROOTS_LITTLE]
        (root,) = _roots(verb)[:1] or ("",)
        found = [one for one in self.shown if self._does(one, root, wanted)]
        for names in (_whole_names, _short_names):
            if exactly := [one for one in found if any(set(wanted) in names(p) for p in self._touched(one))]:
                return exactly
        return found

    def _touched(self, one: RehearsalCommand) -> tuple[str, ...]:
        """What the command makes and takes away; not what an earlier one had made and this one changes."""
        before = self.shown[: self.shown.index(one)]
        earlier = {path for other in before if (use := self.uses.get(other.event_id)) for path in use.written}
        use = self.uses.get(one.event_id)
        made = {*(use.written if use else ()), *made_folders([one])} - earlier
        return (*sorted(made), *(use.removed if use else ()))

    def _does(self, one: RehearsalCommand, verb: str, wanted: Sequence[str]) -> bool:
        use = self.uses.get(one.event_id)
        written, gone = (use.written, use.removed) if use else ((), ())
        programs = programs_in(one.command)
        every = set(_roots(one.command)) | {
            root for name in programs for root in _roots(f"{name} {_ALSO.get(name, '')}")
        }
        is_move = gives_way(one.command) and bool(gone) and bool(written)
        makes = {root for path in self._touched(one) if path not in gone for root in _roots(_spoken(path))}
        takes = {root for path in gone for root in _roots(_spoken(path))}
        if verb in _ROOTS_TAKING:
            return (
                not is_move and bool(gone) and not written and set(wanted) <= takes | set(_roots(one.command))
            )
        if verb in _ROOTS_MOVING:
            return is_move and set(wanted) <= makes | takes | every
        if verb in _ROOTS_MAKING and verb not in _work(one.command):
            return bool(makes) and not is_move and set(wanted) <= makes
        worked_on = {root for path in (*written, *gone) for root in _roots(_spoken(path))}
        return verb in _work(one.command) and set(wanted) <= every | worked_on | _work(one.command)

    def _needed(self, one: RehearsalCommand, place: int, gone: set[str]) -> str:
        """Which command uses what this one makes or sets; empty where none does."""
        later = [other for other in self.shown[place + 1 :] if other.event_id not in gone]
        if defines_for(one.command, [other.command for other in later]):
            return f"“{clipped(later[0].command, 60)}” comes after what it sets in the shell"
        use = self.uses.get(one.event_id)
        made = {*(use.written if use else ()), *made_folders([one])}
        for other in later:
            if not made:
                break
            used = self.uses.get(other.event_id)
            if used is None:
                continue
            if path := next(iter(sorted(made & set(_taken(other, used)))), None):
                return f"“{clipped(other.command, 60)}” uses {clipped(path, 60)}, which it makes"
            made -= {*used.written}
        return ""


def _work(command: str) -> set[str]:
    """What is said of the work of a command: its programs, their subcommands, and its operation."""
    parts = parts_of(command)
    said = [f"{part.program} {_ALSO.get(part.program, '')}" for part in parts]
    said += [part.arguments[0] for part in parts if part.program in _WITH_SUBCOMMANDS and part.arguments]
    operation = operation_of(command)
    if operation is not RUN:
        said.append(f"{operation.verb} {operation.key} {SYNONYMS.get(operation.verb, '')}")
    return {root for one in said for root in _roots(one)}


def _taken(command: RehearsalCommand, used: CommandUse) -> Iterator[str]:
    """What a command needs to be there: what it reads, takes away, appends to, and the folders of what it writes."""
    yield from (*used.read, *used.removed)
    whole = (
        () if appends(command.command) else [one for part in parts_of(command.command) for one in part.writes]
    )
    replaced = {posixpath.normpath(posixpath.join(command.working_folder, one)) for one in whole}
    if _REPLACING.isdisjoint(programs_in(command.command)):
        # What it writes otherwise than whole it works on as it is: a mode, an edited file, an archive.
        yield from (path for path in used.written if path not in replaced)
    for path in (*used.read, *used.removed, *used.written):
        yield from parent_folders(path)


def _whole_names(path: str) -> tuple[set[str], ...]:
    return {*_roots(path)}, {*_roots(posixpath.basename(path))}


def _short_names(path: str) -> tuple[set[str], ...]:
    return ({*_roots(posixpath.basename(path).partition(".")[0])},)


def _spoken(path: str) -> str:
    """The path, and what people call a file of its kind."""
    return f"{path} {_KINDS.get(path.rpartition('.')[2].lower(), '')}"


def _is_ordinal(text: str) -> bool:
    return bool(re.search(r"(?i)\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|last)\b", text))


def _is_of_doing(text: str) -> bool:
    """Whether the words begin with what is done: "sorting the names", "the sorting"."""
    return bool(re.match(r"\w{3,}(?:ing|ation|ion|ment)\b", text.split(" ", 1)[0])) if text else False


def _roots(text: str) -> list[str]:
    """The words of a text without their endings: sorting, sorted and sorts are sort."""
    return [_root(word) for word in _WORD.findall(text.lower())]


def _root(word: str) -> str:
    root = re.sub(r"(?:ing|ions?|ed|es|(?<!s)s|e)$", "", word) if len(word) > 4 else word.removesuffix("s")
    root = re.sub(r"([b-df-hj-kmnp-rtv-z])\1$", r"\1", root)
    return re.sub(r"(?<=\w\w)(?:y|i)$", "i", root).removesuffix("e") if len(root) > 2 else root


_ROOTS_LITTLE, _ROOTS_MAKING, _ROOTS_TAKING, _ROOTS_MOVING = (
    frozenset(map(_root, words)) for words in (_LITTLE, _MAKING, _TAKING, _MOVING)
)
