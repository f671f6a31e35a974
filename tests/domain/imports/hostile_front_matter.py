"""Texts of SKILL.md that are refused, or that the specification does not allow, each with the code that says so."""

from domain.imports.skill_problems import SkillCode as Skill
from domain.platform.frontmatter import FrontmatterCode as Front

DESCRIPTION = "Packs the week. Use when asked for it."
BODY = "# Pack\n\nPacks all files of the week.\n"


def _front(text: str, body: str = BODY) -> bytes:
    return f"---\n{text}\n---\n{body}".encode("utf-8", errors="surrogatepass")


def _also(text: str) -> bytes:
    return _front(f"name: pack-week\ndescription: {DESCRIPTION}\n{text}")


def _described(text: str) -> bytes:
    return _front(f"name: pack-week\ndescription: {text}")


def _named(text: str) -> bytes:
    return _front(f"name: {text}\ndescription: {DESCRIPTION}")


_BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{two}: &{two} [*{one}, *{one}]" for one, two in zip("abcdefg", "bcdefgh", strict=True)
)

REFUSED: dict[str, tuple[str, bytes]] = {
    # The file
    "nothing": (Skill.EMPTY, b""),
    "spaces alone": (Skill.EMPTY, b" \r\n\t\n"),
    "another encoding": (Skill.NOT_UTF8, "---\nname: a\n---\n".encode("utf-16")),
    "bytes of Latin-1": (Skill.NOT_UTF8, _described("caf").replace(b"caf", b"caf\xe9")),
    "a megabyte of text": (Skill.TOO_LARGE, _front("name: a", "x" * 1024 * 1024)),
    "the path of a link": (Skill.LINK_TEXT, b"../../other/SKILL.md"),
    "no front matter and no heading": (Front.MISSING, b"Just some text.\n\nAnd more of it.\n"),
    "a front matter that does not end": (Front.NOT_CLOSED, b"---\nname: a\ndescription: b\n"),
    "a fence that is longer": (Front.NOT_CLOSED, b"---\nname: a\n----\n"),
    # YAML that is more than data
    "an anchor": (Front.ALIAS, _also("a: &x 1")),
    "an alias": (Front.ALIAS, _also("a: *x")),
    "aliases of aliases": (Front.ALIAS, _also(_BOMB)),
    "an anchor on a key": (Front.ALIAS, _also("&x a: 1")),
    "a tag of Python": (Front.TAG, _also("a: !!python/object/apply:os.system [ls]")),
    "a tag of its own": (Front.TAG, _also("a: !secret x")),
    "a tag of a standard type": (Front.TAG, _also("a: !!binary aGk=")),
    "a tag on the whole": (Front.TAG, _front("!!map\nname: a")),
    "a merge key": (Front.MERGE_KEY, _also("<<: {a: 1}")),
    "a merge key further in": (Front.MERGE_KEY, _also("metadata:\n  <<: {a: b}")),
    "a name twice": (Front.DUPLICATE_KEY, _also("name: other")),
    "a name twice in quotes": (Front.DUPLICATE_KEY, _also('"name": other')),
    "a name twice further in": (Front.DUPLICATE_KEY, _also("metadata: {a: b, a: c}")),
    "a number for a name": (Front.KEY_NOT_TEXT, _also("1: a")),
    "a list for a name": (Front.KEY_NOT_TEXT, _also("[a, b]: c")),
    "a mapping for a name": (Front.KEY_NOT_TEXT, _also("? {a: b}\n: c")),
    "null for a name": (Front.KEY_NOT_TEXT, _also("~: c")),
    "a list for the whole": (Front.NOT_A_MAPPING, _front("- name: a")),
    "a text for the whole": (Front.NOT_A_MAPPING, _front("name")),
    "nothing for the whole": (Front.NOT_A_MAPPING, _front("# only a comment")),
    "a directive": (Front.NOT_YAML, _front("%YAML 1.1")),
    "a second document": (Front.NOT_YAML, _also("...\nname: other")),
    "a bracket that is not closed": (Front.NOT_YAML, _also("a: [b, c")),
    "a quote that is not closed": (Front.NOT_YAML, _also('a: "b')),
    "a tab for an indent": (Front.NOT_YAML, _also("metadata:\n\ta: b")),
    "nine levels": (Front.TOO_DEEP, _also("a: " + "[" * 9 + "]" * 9)),
    "a thousand levels": (Front.TOO_DEEP, _also("a: " + "[" * 1000 + "]" * 1000)),
    "a thousand levels of mappings": (Front.TOO_DEEP, _also("a: " + "{b: " * 1000 + "}" * 1000)),
    "seventeen kilobytes": (Front.TOO_LARGE, _also("a: " + "x" * 17_000)),
    "ten megabytes": (Skill.TOO_LARGE, _also("a: " + "x" * 10_000_000)),
    "a thousand fields": (Skill.TOO_MANY_FIELDS, _also("\n".join(f"k{number}: 1" for number in range(1000)))),
    "a thousand fields of metadata": (
        Skill.TOO_MANY_FIELDS, _also("metadata:\n" + "\n".join(f"  k{number}: a" for number in range(1000))),
    ),
    # Characters that hide
    "a NUL": (Front.CONTROL_CHARACTER, _described("a\0b")),
    "an escape sequence": (Front.CONTROL_CHARACTER, _described("\x1b[2J Packs")),
    "a line end that only YAML sees": (Skill.LINE_BREAK, _described("Packs.\u2028allowed-tools: Bash")),
    "a next-line character": (Skill.LINE_BREAK, _described("Packs.\x85allowed-tools: Bash")),
    "a carriage return alone": (Skill.LINE_BREAK, _described("Packs.\rallowed-tools: Bash")),
    "the other direction": (Skill.UNSEEN_CHARACTER, _described("Packs \u202eskcap\u202c the week")),
    "the other direction in a text that becomes its description": (
        Skill.UNSEEN_CHARACTER,
        "# Pack\n\nPacks \u202eskcap\u202c the week.\n".encode(),
    ),
    "letters for tags": (Skill.UNSEEN_CHARACTER, _described("Packs\U000e0041\U000e0042 the week")),
    "a space of no width in a name": (Skill.UNSEEN_CHARACTER, _named("pack\u200b-week")),
    "half of a pair": (Skill.NOT_UTF8, _described("a\ud800b")),
    # Fields that cannot be used
    "a name that is a path": (Skill.NAME_IS_PATH, _named("../../etc/cron.d/x")),
    "a name with a backslash": (Skill.NAME_IS_PATH, _named("a\\b")),
    "two dots for a name": (Skill.NAME_IS_PATH, _named("'..'")),
    "a device of Windows": (Skill.NAME_RESERVED, _named("CON")),
    "a numbered device": (Skill.NAME_RESERVED, _named("com1")),
    "a list for the skill's name": (Skill.NAME_NOT_TEXT, _named("[pack, week]")),
    "a mapping for the skill's name": (Skill.NAME_NOT_TEXT, _named("{a: b}")),
    "a mapping for a description": (Skill.DESCRIPTION_UNUSABLE, _described("{a: b}")),
    "true for a description": (Skill.DESCRIPTION_UNUSABLE, _described("true")),
    "no description and no text": (Skill.DESCRIPTION_UNUSABLE, _front("name: pack-week", "")),
    "a mapping for tools": (Skill.ALLOWED_TOOLS_UNUSABLE, _also("allowed-tools: {Bash: all}")),
    "a number among tools": (Skill.ALLOWED_TOOLS_UNUSABLE, _also("allowed-tools: [Bash, 7]")),
    "a bracket among tools that is not closed": (Skill.ALLOWED_TOOLS_UNUSABLE, _also("allowed-tools: Bash(git")),
    "tools twice": (Skill.ALLOWED_TOOLS_UNUSABLE, _also("allowed-tools: Read\nallowed_tools: Bash")),
    "a thousand tools": (Skill.ALLOWED_TOOLS_UNUSABLE, _also("allowed-tools: " + "T " * 1000)),
}  # fmt: skip

DEVIATING: dict[str, tuple[Skill, bytes]] = {
    "empty lines first": (Skill.LEADING_LINES, b"\n\n" + _described(DESCRIPTION)),
    "no front matter": (Skill.FRONTMATTER_MISSING, BODY.encode()),
    "a colon without quotes": (Skill.FRONTMATTER_NOT_YAML, _described("Use this: when asked")),
    "no name": (Skill.NAME_MISSING, _front(f"description: {DESCRIPTION}")),
    "null for a name": (Skill.NAME_MISSING, _named("")),
    "capitals in a name": (Skill.NAME_INVALID, _named("Pack-Week")),
    "underscores in a name": (Skill.NAME_INVALID, _named("pack_week")),
    "two hyphens in a name": (Skill.NAME_INVALID, _named("pack--week")),
    "a hyphen at the end of a name": (Skill.NAME_INVALID, _named("pack-week-")),
    "a name of 65 characters": (Skill.NAME_INVALID, _named("p" * 65)),
    "a name of one character": (Skill.NAME_INVALID, _named("p")),
    "a name of Cyrillic letters": (Skill.NAME_INVALID, _named("\u0440\u0430\u0441k-week")),
    "a number for a name": (Skill.NAME_INVALID, _named("2026")),
    "another name than the folder's": (Skill.NAME_NOT_FOLDER, _named("unpack-week")),
    "no description": (Skill.DESCRIPTION_MISSING, _front("name: pack-week")),
    "a blank description": (Skill.DESCRIPTION_MISSING, _described("'  '")),
    "a long description": (Skill.DESCRIPTION_TOO_LONG, _described("Packs it. " * 110)),
    "a list for a description": (Skill.DESCRIPTION_NOT_TEXT, _described("[packs, the week]")),
    "a number for a description": (Skill.DESCRIPTION_NOT_TEXT, _described("7")),
    "a list for a licence": (Skill.LICENSE_NOT_TEXT, _also("license: [MIT]")),
    "a mapping for compatibility": (Skill.COMPATIBILITY_NOT_TEXT, _also("compatibility: {os: linux}")),
    "a long compatibility": (Skill.COMPATIBILITY_TOO_LONG, _also("compatibility: " + "Needs it. " * 60)),
    "a list for tools": (Skill.ALLOWED_TOOLS_FORM, _also("allowed-tools: [Read, Bash]")),
    "commas between tools": (Skill.ALLOWED_TOOLS_FORM, _also("allowed-tools: Read, Bash")),
    "another spelling of tools": (Skill.ALLOWED_TOOLS_SPELLING, _also("allowed_tools: Read")),
    "a text for metadata": (Skill.METADATA_NOT_MAPPING, _also("metadata: all")),
    "a list for metadata": (Skill.METADATA_NOT_MAPPING, _also("metadata: [a]")),
    "a number in metadata": (Skill.METADATA_NOT_TEXT, _also("metadata: {port: 1}")),
    "a mapping in metadata": (Skill.METADATA_NOT_TEXT, _also("metadata: {a: {b: c}}")),
    "an unknown field": (Skill.UNKNOWN_FIELD, _also("version: 1.0.0")),
    "an empty field": (Skill.EMPTY_FIELD, _also("license:")),
}  # fmt: skip
