"""Hostile front matter is refused by its code; what merely deviates is repaired, with the code of the repair."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.imports.skill_problems import SkillCode, SkillRefused
from domain.imports.skill_reading import ReadSkill, read_skill
from domain.platform.frontmatter import FrontmatterCode
from tests.domain.imports.hostile_front_matter import DEVIATING, REFUSED


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_trusted_is_refused_by_its_code(kind: str) -> None:
    code, content = REFUSED[kind]
    folder = "\u0430" if code == SkillCode.NAME_UNUSABLE else "pack-week"
    with pytest.raises(SkillRefused) as refused:
        read_skill(content, folder)
    assert refused.value.code == code
    assert refused.value.message


def test_a_name_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(SkillRefused) as refused:
        read_skill("---\nname: \u5305\ndescription: \u5305\u88c5\n---\n# \u5305\n".encode(), "\u5305")
    assert refused.value.code == SkillCode.NAME_UNUSABLE


@pytest.mark.parametrize("kind", DEVIATING)
def test_what_deviates_is_repaired_and_conforms_then(kind: str) -> None:
    code, content = DEVIATING[kind]
    skill = read_skill(content, "pack-week")
    assert code in {repair.code for repair in skill.repairs}
    again = read_skill(skill.text.encode(), skill.name)
    assert again.conforms
    assert again.front == skill.front


def test_there_are_many_kinds_and_each_code_has_one() -> None:
    assert len(REFUSED) >= 40
    met = {code for code, _ in REFUSED.values()} | {code for code, _ in DEVIATING.values()}
    elsewhere = {SkillCode.NAME_UNUSABLE, SkillCode.FILE_NAME, SkillCode.FIELD_SPELLING}
    # Directives need a second fence to be read at all; JSON of its own occurs in manifests.
    unreachable = {FrontmatterCode.SEVERAL_DOCUMENTS, FrontmatterCode.INLINE_JSON}
    assert {str(code) for code in met} == {
        str(code) for code in {*SkillCode, *FrontmatterCode} - elsewhere - unreachable
    }


_FRONT = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            [
                "name: pack-week", "name: Pack Week", "name: [a]", "description: Packs: the week", "description: |-",
                "  more text", "metadata:", "  a: 1", "\tb: 2", "- item", "allowed-tools: A, B(c d)", "license: *x",
                "key: &x y", "<<: {a: b}", "'q': \"r\"", "? a", ": b", "---", "...", "k: [1, {a: b}]", "#c", "\u2028",
            ]
        ),
        max_size=12,
    ).map("\n".join),
)  # fmt: skip


def _read_or_refused(content: bytes, folder: str | None) -> ReadSkill | None:
    try:
        return read_skill(content, folder)
    except SkillRefused:
        return None


@settings(max_examples=300, deadline=None)
@given(_FRONT, st.text(max_size=80), st.one_of(st.none(), st.text(max_size=20)))
def test_any_front_matter_is_refused_or_conforms_after_its_repairs(
    front: str, body: str, folder: str | None
) -> None:
    content = f"---\n{front}\n---\n{body}".encode(errors="replace")
    skill = _read_or_refused(content, folder)
    if skill is not None:
        again = read_skill(skill.text.encode(), skill.name)
        assert again.conforms
        assert again.front == skill.front


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.binary(max_size=120), st.text(max_size=120).map(lambda text: text.encode(errors="replace")))
)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    _read_or_refused(content, "pack-week")
