"""Which skills are found in an unpacked archive, and what is said of each."""

from pathlib import Path

import pytest

from domain.imports.bundles import Bundles
from domain.imports.skill_problems import SkillRefused
from skills.imports.archive_reader import unpack
from skills.imports.bundle_reader import materialise, read_bundles
from tests.skills.imports.test_archive_reader import SKILL_MD, zipped


def bundles(tmp_path: Path, files: dict[str, str | bytes]) -> Bundles:
    unpacked = unpack(zipped(tmp_path / "a.zip", files), tmp_path / "out")
    return read_bundles(tmp_path / "out", unpacked)


def named(name: str) -> str:
    return SKILL_MD.replace("pack-week", name)


def test_a_skill_is_found_at_the_top_in_a_wrapping_folder_and_below_it(tmp_path: Path) -> None:
    for number, path in enumerate(["SKILL.md", "pack-week/SKILL.md", "repo-main/skills/pack-week/SKILL.md"]):
        place = tmp_path / str(number)
        place.mkdir()
        found = bundles(place, {path: SKILL_MD, f"{path.removesuffix('SKILL.md')}scripts/a.sh": "echo"})
        assert [file.path for file in found.skills[0].files] == ["SKILL.md", "scripts/a.sh"]
        assert found.skills[0].skill.conforms


def test_the_shallowest_skill_md_wins_and_those_below_it_are_its_files(tmp_path: Path) -> None:
    found = bundles(tmp_path, {"pack-week/SKILL.md": SKILL_MD, "pack-week/assets/template/SKILL.md": "# x"})
    assert [skill.folder for skill in found.skills] == ["pack-week"]
    assert [file.path for file in found.skills[0].files] == ["SKILL.md", "assets/template/SKILL.md"]


def test_several_skills_are_previewed_each_with_its_reason(tmp_path: Path) -> None:
    found = bundles(
        tmp_path,
        {
            "all/one/SKILL.md": named("one"),
            "all/two/SKILL.md": "---\nname: two\nname: too\n---\n",
            "all/README.md": "read me",
        },
    )
    assert [skill.skill.name for skill in found.skills] == ["one"]
    assert [(one.folder, one.code, one.path_hint) for one in found.refused] == [
        ("all/two", "FRONTMATTER_DUPLICATE_KEY", "all/two/SKILL.md, line 3")
    ]
    assert [finding.code for finding in found.findings] == ["FILES_OUTSIDE_SKILLS"]


def test_an_archive_of_archives_is_read_one_level_down(tmp_path: Path) -> None:
    inner = [zipped(tmp_path / f"{name}.zip", {"SKILL.md": named(name)}) for name in ("one", "two")]
    found = bundles(tmp_path, {f"bundle/{path.name}": path.read_bytes() for path in inner})
    assert [skill.skill.name for skill in found.skills] == ["one", "two"]
    assert not list((tmp_path / "out").rglob("*.zip"))
    assert [finding.code for finding in found.findings] == ["ARCHIVE_NESTED"]


def test_an_archive_beside_a_skill_stays_a_file_of_it(tmp_path: Path) -> None:
    asset = zipped(tmp_path / "template.zip", {"x.txt": "x"}).read_bytes()
    found = bundles(tmp_path, {"pack-week/SKILL.md": SKILL_MD, "pack-week/assets/template.zip": asset})
    assert [file.path for file in found.skills[0].files] == ["SKILL.md", "assets/template.zip"]
    assert [finding.code for finding in found.findings] == ["ARCHIVE_INSIDE"]


def test_an_archive_without_a_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillRefused, match="SKILL_MD_MISSING"):
        bundles(tmp_path, {"README.md": "x"})


def test_a_skill_is_made_as_it_conforms_with_its_files(tmp_path: Path) -> None:
    found = bundles(tmp_path, {"Pack/skill.md": SKILL_MD + "x", "Pack/a/b.txt": b"\x00\xff"})
    assert [repair.code.value for repair in found.skills[0].skill.repairs] == [
        "SKILL_NAME_NOT_FOLDER",
        "SKILL_MD_FILE_NAME",
    ]
    made = materialise(tmp_path / "out", found.skills[0], tmp_path / "made")
    assert made.name == "pack-week"
    assert (made / "SKILL.md").read_text() == SKILL_MD + "x"
    assert (made / "a" / "b.txt").read_bytes() == b"\x00\xff"


def test_names_of_the_tools_that_a_skill_brings_are_read(tmp_path: Path) -> None:
    found = bundles(
        tmp_path,
        {
            "pack-week/SKILL.md": SKILL_MD,
            "pack-week/capabilities/pack.json": '[{"name": "pack"}, {"tool": "unpack"}]',
            "pack-week/capabilities/bad.json": '{"name": "a", "name": "b"}',
        },
    )
    assert found.skills[0].capabilities == ("pack", "unpack")
    assert [finding.code for finding in found.skills[0].findings] == ["CAPABILITY_UNREADABLE"]
