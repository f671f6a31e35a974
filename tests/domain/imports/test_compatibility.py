"""What the compatibility report says of a skill, against the names of what is installed."""

from dataclasses import replace

import pytest

from contracts.imports.compatibility import FindingSeverity
from contracts.imports.portable_frontmatter import PortabilityGrade
from domain.imports.bundles import BundleFile, SkillBundle
from domain.imports.compatibility import Compatibility, Installed, compatibility_report, refusal_report
from domain.imports.namespaces import namespace_of, runtime_tool
from domain.imports.portable import portable_frontmatter
from domain.imports.skill_reading import read_skill

FRONT = "name: pack-week\ndescription: Packs the files of the week. Use when asked to pack."


def bundle(
    more: str = "", body: str = "# Pack\n", tools: tuple[str, ...] = (), files: tuple[str, ...] = ()
) -> SkillBundle:
    skill = read_skill(f"---\n{FRONT}\n{more}\n---\n{body}".encode(), "pack-week")
    own = tuple(BundleFile(path, 1, "0" * 64, executable=False) for path in ("SKILL.md", *files))
    return SkillBundle("pack-week", "SKILL.md", skill, own, tools)


def metadata(**fields: str) -> str:
    return "metadata:\n" + "\n".join(f"  {name}: '{value}'" for name, value in fields.items())


def codes(found: Compatibility, *severities: FindingSeverity) -> list[str]:
    return [
        finding.code for finding in found.report.findings if not severities or finding.severity in severities
    ]


def test_a_plain_skill_is_compatible_and_direct() -> None:
    found = compatibility_report(bundle(), Installed())
    assert found.report.compatible
    assert not found.report.requires_adapter
    assert found.grade is PortabilityGrade.DIRECT
    assert codes(found) == ["PORTABILITY_GRADE"]


@pytest.mark.acceptance("9.11-3")
def test_what_is_not_connected_requires_an_adapter() -> None:
    said = "allowed-tools: Read Bash(git:*) mcp__outlook__send jira:search draw\n" + metadata(
        connector_hints="crm; outlook"
    )
    found = compatibility_report(bundle(said), Installed())
    assert found.report.requires_adapter
    assert found.report.compatible
    assert found.grade is PortabilityGrade.ADAPTER_REQUIRED
    named = [finding.message.split(",")[0] for finding in found.report.findings[:4]]
    assert named == ["It uses outlook", "It uses jira", "It uses crm", "It uses the tool draw"]

    there = Installed(tools=frozenset({"draw"}), connectors=frozenset({"outlook", "jira", "crm"}))
    assert not compatibility_report(bundle(said), there).report.requires_adapter


@pytest.mark.acceptance("0.11C-4", "9.17-1", "9.17-2")
@pytest.mark.parametrize("tool", ["send_mail", "Send-Mail", "sendmail", "bash"])
def test_a_tool_that_could_be_taken_for_another_makes_it_incompatible(tool: str) -> None:
    found = compatibility_report(bundle(tools=(tool,)), Installed(tools=frozenset({"send_mail"})))
    assert not found.report.compatible
    assert found.report.requires_adapter
    assert codes(found, FindingSeverity.ERROR) == ["TOOL_SHADOWING"]


def test_two_tools_of_its_own_may_not_be_taken_for_each_other() -> None:
    found = compatibility_report(bundle(tools=("save", "SAVE")), Installed())
    assert codes(found, FindingSeverity.ERROR) == ["TOOL_SHADOWING"]


def test_a_name_that_is_taken_is_an_error_and_one_that_is_close_a_warning() -> None:
    taken = compatibility_report(bundle(), Installed(skills=frozenset({"pack-week"})))
    assert codes(taken, FindingSeverity.ERROR) == ["NAME_TAKEN"]
    close = compatibility_report(bundle(), Installed(skills=frozenset({"packweek"})))
    assert close.report.compatible
    assert codes(close, FindingSeverity.WARNING) == ["NAME_CLOSE"]


@pytest.mark.acceptance("0.11C-5", "9.17-2")
def test_tools_run_in_a_namespace_of_the_skill() -> None:
    found = compatibility_report(bundle(tools=("Save attachment",)), Installed())
    assert found.namespace == namespace_of("pack-week")
    assert found.runtime_tools == (f"{found.namespace}__save_attachment",)
    assert runtime_tool("ext_ab12_outlook", "save_attachment") == "ext_ab12_outlook__save_attachment"
    used = Installed(namespaces=frozenset({found.namespace}))
    assert codes(compatibility_report(bundle(), used), FindingSeverity.ERROR) == ["NAMESPACE_TAKEN"]


def test_a_skill_that_it_depends_on_has_to_be_installed() -> None:
    said = bundle(metadata(depends_on='["unpack", "list-files"]'))
    found = compatibility_report(said, Installed(skills=frozenset({"unpack"})))
    assert not found.report.compatible
    assert [one.message for one in found.report.findings if one.code == "DEPENDENCY_MISSING"] == [
        "It depends on the skill list-files. Install that one first."
    ]


def test_what_it_depends_on_may_come_with_it_in_a_pack() -> None:
    said = bundle(metadata(depends_on='["unpack"]'))
    both, one = frozenset({said.skill.name, "unpack"}), frozenset({"unpack"})
    found = compatibility_report(said, Installed(packs={"office": both}))
    assert found.report.compatible
    assert "DEPENDENCY_IN_PACK" in codes(found, FindingSeverity.INFO)
    alone = compatibility_report(said, Installed(packs={"office": one}))
    assert codes(alone, FindingSeverity.ERROR) == ["DEPENDENCY_MISSING"]


def test_what_would_replace_a_quarantined_ability_says_how_that_is_lifted_and_not_that_it_is_the_next_version() -> (
    None
):
    name = bundle().skill.name
    here = Installed(skills=frozenset({name}), imported=frozenset({name}), quarantined=frozenset({name}))
    found = compatibility_report(bundle(), here).report
    assert found.compatible
    (held,) = [one for one in found.findings if one.code == "REPLACES_QUARANTINED"]
    assert f"apprentice abilities unquarantine imported.{name} --reason WHY" in held.message
    assert "NEW_VERSION" not in codes(compatibility_report(bundle(), here), FindingSeverity.INFO)


def test_a_support_pack_that_it_needs_has_to_be_here() -> None:
    said = bundle(metadata(support_packs="ledgers"))
    assert codes(compatibility_report(said, Installed()), FindingSeverity.ERROR) == ["SUPPORT_PACK_MISSING"]
    assert compatibility_report(said, Installed(support_packs=frozenset({"ledgers"}))).report.compatible


@pytest.mark.acceptance("9.17-4")
def test_large_schemas_in_the_text_are_pointed_out() -> None:
    body = "```json\n" + '{"a": 1}\n' * 70 + "```\n"
    assert "PARAMETER_DOCS_INLINE" in codes(compatibility_report(bundle(body=body), Installed()))


def test_programs_and_paths_of_one_computer_make_it_local() -> None:
    for found in (
        compatibility_report(bundle(files=("bin/pack.exe",)), Installed()),
        compatibility_report(bundle(body="Look in /home/graham/packs.\n"), Installed()),
        compatibility_report(bundle(metadata(openclaw='{"os": ["darwin"]}')), Installed()),
    ):
        assert found.grade is PortabilityGrade.LOCAL_ONLY
    anybody = compatibility_report(bundle(body="Look in /home/user/packs.\n"), Installed())
    assert anybody.grade is PortabilityGrade.DIRECT


def test_a_skill_is_believed_that_it_is_less_portable_and_not_that_it_is_more() -> None:
    worse = compatibility_report(bundle(metadata(portability_grade="local_only")), Installed())
    assert worse.grade is PortabilityGrade.LOCAL_ONLY
    better = compatibility_report(
        bundle(metadata(portability_grade="direct", connector_hints="crm")), Installed()
    )
    assert better.grade is PortabilityGrade.ADAPTER_REQUIRED


def test_the_mark_of_an_executable_is_taken_away_and_the_report_says_of_which_files() -> None:
    made = bundle(files=("scripts/pack.py", "scripts/unpack.py"))
    marked = replace(made, files=(*made.files[:2], replace(made.files[2], executable=True)))
    assert "EXECUTABLE_BIT_CLEARED" not in codes(compatibility_report(made, Installed()))
    found = compatibility_report(marked, Installed())
    (said,) = [one.message for one in found.report.findings if one.code == "EXECUTABLE_BIT_CLEARED"]
    assert "scripts/unpack.py" in said
    assert "scripts/pack.py" not in said


def test_files_that_the_text_names_have_to_be_there() -> None:
    body = "Run scripts/pack.py as in [the guide](references/guide.md).\n```\nscripts/yours.py\n```\n"
    found = compatibility_report(bundle(body=body, files=("scripts/pack.py",)), Installed())
    assert [one.path_hint for one in found.report.findings if one.code == "FILE_MISSING"] == [
        "references/guide.md"
    ]


@pytest.mark.acceptance("9.11-2")
@pytest.mark.parametrize(
    ("description", "code"),
    [
        ("A helpful tool.", "DESCRIPTION_VAGUE"),
        ("This skill helps you with various tasks.", "DESCRIPTION_VAGUE"),
        ("TODO describe the skill and its use", "DESCRIPTION_PLACEHOLDER"),
        ("Replace with description of the skill and when Claude should use it.", "DESCRIPTION_PLACEHOLDER"),
        ("Toolkit of brand colours, typography and logo rules.", "DESCRIPTION_WITHOUT_WHEN"),
    ],
)
def test_a_description_by_which_nobody_can_choose_is_warned_of(description: str, code: str) -> None:
    skill = read_skill(f"---\nname: pack-week\ndescription: {description}\n---\nx\n".encode(), "pack-week")
    found = compatibility_report(SkillBundle("", "SKILL.md", skill, ()), Installed())
    assert codes(found)[:1] == [code]
    if code != "DESCRIPTION_WITHOUT_WHEN":
        assert "EXAMPLES_TO_WRITE" in codes(found)
    assert found.report.compatible


@pytest.mark.parametrize(
    "description",
    [
        "Find all FIXME comments across the codebase and resolve them when asked.",
        "Schreibt den Wochenbericht, wenn danach gefragt wird, for the team.",
        "自主代码循环的模式与架构",
    ],
)
def test_good_descriptions_are_not_warned_of(description: str) -> None:
    skill = read_skill(f"---\nname: pack-week\ndescription: {description}\n---\nx\n".encode(), "pack-week")
    found = compatibility_report(SkillBundle("", "SKILL.md", skill, ()), Installed())
    assert codes(found) == ["PORTABILITY_GRADE"]


def test_repairs_are_findings_with_both_wordings() -> None:
    found = compatibility_report(bundle("version: 2.0"), Installed())
    assert found.report.findings[0].code == "SKILL_UNKNOWN_FIELD"
    assert "2.0 → metadata.version" in found.report.findings[0].message


def test_a_refusal_is_a_report_of_its_own() -> None:
    report = refusal_report("ARCHIVE_LINK", "a member is a link", "a\u202eb")
    assert not report.compatible
    assert report.findings[0].path_hint == "a\\u202eb"


def test_the_front_matter_of_the_document_is_read_from_metadata() -> None:
    said = bundle(
        "title: Weekly pack\nversion: 2.1.0\ntriggers: [pack it, pack the week]\nestimated_cost_class: low\n"
        "depends_on: [unpack]\nallowed-tools: Read"
    )
    front = portable_frontmatter(said.skill)
    assert (front.title, front.version, front.estimated_cost_class) == ("Weekly pack", "2.1.0", "low")
    assert front.triggers == ("pack it", "pack the week")
    assert front.depends_on == ("unpack",)
    assert front.allowed_tools == ("Read",)
    assert portable_frontmatter(bundle().skill).triggers == ("Packs the files of the week",)


@pytest.mark.parametrize(
    "piece",
    ["](a", "](a.", "[x](", "scripts/a.", "```json\n", "~~~\n```\n", "/home/a", "\n \n", "# \t", "a  "],
)
def test_a_megabyte_of_any_piece_is_read_to_its_end(piece: str) -> None:
    body = "# Pack" + "\t" * 2000 + "x\n" + piece * (900_000 // len(piece)) + "x"
    skill = read_skill(f"---\ndescription: Packs the week.\n---\n{body}".encode(), None)
    found = compatibility_report(SkillBundle("", "SKILL.md", skill, ()), Installed())
    assert found.report.compatible
    assert skill.diff()


@pytest.mark.parametrize(
    ("tool", "here"),
    [
        ("team-notes/append_line", True),
        ("team-notes:append_line", True),
        ("team-notes:*", True),
        ("mcp__team-notes", True),
        ("mcp__team-notes__*", True),
        ("mcp__team-notes__append_line", True),
        ("mcp__Team_Notes__append_line", True),
        ("other/append_line", False),
        ("mcp__team__append_line", False),
        ("mcp__other", False),
    ],
)
def test_a_tool_of_a_connected_server_is_here_in_every_spelling_by_which_it_may_be_called(
    tool: str, here: bool
) -> None:
    bound = bundle(f"allowed-tools: {tool}\n")
    found = compatibility_report(bound, Installed(connectors=frozenset({"team-notes", "Team Notes"})))
    assert found.report.requires_adapter is not here
