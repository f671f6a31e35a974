"""What becomes of the SKILL.md of strangers: taken as it is, repaired with every change listed, or refused."""

from domain.imports.skill_problems import SkillCode
from domain.imports.skill_reading import ReadSkill, read_skill

DESCRIPTION = "Packs the week. Use when asked for it."
FRONT = f"name: pack-week\ndescription: {DESCRIPTION}"


def skill_md(front: str, body: str = "# Pack\n\nPack it.\n") -> bytes:
    return f"---\n{front}\n---\n{body}".encode()


def read(front: str, folder: str | None = "pack-week") -> ReadSkill:
    return read_skill(skill_md(front), folder)


def codes(skill: ReadSkill) -> list[SkillCode]:
    return [repair.code for repair in skill.repairs]


def test_a_skill_that_conforms_is_left_as_it_is() -> None:
    skill = read(f"{FRONT}\nlicense: MIT\nallowed-tools: Bash(git add:*) Read\nmetadata:\n  author: me")
    assert skill.conforms
    assert skill.text == skill.original
    assert skill.diff() == ""
    assert skill.front == {
        "name": "pack-week",
        "description": DESCRIPTION,
        "license": "MIT",
        "allowed-tools": "Bash(git add:*) Read",
        "metadata": {"author": "me"},
    }


def test_byte_order_mark_windows_line_ends_and_flow_style_are_read() -> None:
    content = b"\xef\xbb\xbf" + skill_md(f"{FRONT}\nmetadata: {{author: me}}").replace(b"\n", b"\r\n")
    skill = read_skill(content, "pack-week")
    assert skill.conforms
    assert skill.metadata == {"author": "me"}


def test_unknown_fields_are_kept_in_metadata_and_shown_as_a_diff() -> None:
    skill = read(f"{FRONT}\nversion: 1.10\ntriggers: [pack, 'the week']\nmetadata:\n  version: '2'")
    assert codes(skill) == [SkillCode.UNKNOWN_FIELD, SkillCode.UNKNOWN_FIELD]
    assert skill.metadata == {"version": "2", "version-2": "1.10", "triggers": '["pack", "the week"]'}
    assert "-version: 1.10\n" in skill.diff()
    assert '+  version-2: "1.10"\n' in skill.diff()
    assert skill.text.endswith("---\n\n# Pack\n\nPack it.\n")


def test_a_field_in_other_capitals_is_that_field_and_one_that_is_there_twice_is_kept_beside_it() -> None:
    skill = read("Name: pack-week\nDESCRIPTION: Packs the week.\nLicense: MIT")
    assert codes(skill) == [SkillCode.FIELD_SPELLING] * 3
    assert (skill.name, skill.description, skill.front["license"]) == ("pack-week", "Packs the week.", "MIT")
    twice = read(f"{FRONT}\nDescription: Another one.")
    assert (twice.description, twice.metadata) == (DESCRIPTION, {"Description": "Another one."})


def test_a_long_description_is_shortened_at_a_sentence_and_kept_whole_in_metadata() -> None:
    long = "Packs the week and more. " * 60
    skill = read(f"name: pack-week\ndescription: {long}")
    assert codes(skill) == [SkillCode.DESCRIPTION_TOO_LONG]
    assert skill.description == ("Packs the week and more. " * 41).strip()
    assert skill.metadata["full-description"] == long.strip()


def test_a_colon_in_an_unquoted_description_is_quoted() -> None:
    skill = read('name: pack-week\ndescription: Use this: when "packing" is asked for')
    assert codes(skill) == [SkillCode.FRONTMATTER_NOT_YAML]
    assert skill.description == 'Use this: when "packing" is asked for'


def test_an_invalid_name_becomes_that_of_the_folder_else_the_nearest() -> None:
    assert read(f"name: Pack_Week!\ndescription: {DESCRIPTION}", "week-packer").name == "week-packer"
    assert read(f"name: Pack Week\ndescription: {DESCRIPTION}", None).name == "pack-week"
    assert read(f"description: {DESCRIPTION}", None).name == "pack"


def test_a_valid_name_stands_where_the_folder_is_called_otherwise() -> None:
    skill = read(FRONT, "pack-week-main")
    assert skill.name == "pack-week"
    assert codes(skill) == [SkillCode.NAME_NOT_FOLDER]
    assert skill.text == skill.original


def test_lists_and_commas_of_allowed_tools_become_the_text_of_the_specification() -> None:
    for said in (
        "Bash(git add:*, git rm:*), Read",
        "[Bash(git add:*), Read]",
        "\n  - Bash(git add:*)\n  - Read",
    ):
        skill = read(f"{FRONT}\nallowed-tools: {said}")
        assert codes(skill) == [SkillCode.ALLOWED_TOOLS_FORM]
        assert str(skill.front["allowed-tools"]).endswith(" Read")


def test_an_empty_list_of_allowed_tools_allows_none() -> None:
    assert read(f"{FRONT}\nallowed-tools: []").front["allowed-tools"] == ""
    assert read(f"{FRONT}\nallowed-tools:").front["allowed-tools"] == ""


def test_a_text_without_front_matter_gets_one_from_its_heading_and_first_paragraph() -> None:
    skill = read_skill(
        b"# Skill: Weekly Update\n\n**Time:** 5 minutes\n\nBrings all pages up to date.\n", None
    )
    assert skill.name == "weekly-update"
    assert skill.description == "Brings all pages up to date."
    assert codes(skill) == [
        SkillCode.FRONTMATTER_MISSING,
        SkillCode.NAME_MISSING,
        SkillCode.DESCRIPTION_MISSING,
    ]


def test_values_of_metadata_become_texts() -> None:
    skill = read(f"{FRONT}\nmetadata:\n  port: 8600\n  tool: {{bins: [uv]}}")
    assert skill.metadata == {"port": "8600", "tool": '{"bins": ["uv"]}'}
    assert codes(skill) == [SkillCode.METADATA_NOT_TEXT] * 2


def test_what_was_repaired_conforms() -> None:
    skill = read(
        "name: X Y\ndescription: [a b, c d]\nfoo: {a: [1, null]}\nallowed_tools: A, B\nlicense: 7", "x"
    )
    again = read_skill(skill.text.encode(), skill.name)
    assert again.conforms
    assert again.front == skill.front
