"""The members of a pack are installed after what they depend on, and every obstacle is named before."""

import pytest

from contracts.errors import ErrorCode
from contracts.imports.pack_members import PackMember, PackMemberState
from contracts.imports.packs import MOST_MEMBERS
from domain.imports.pack_plan import pack_plan

NOTHING: frozenset[str] = frozenset()
IMPORT = "0199aa10-7c00-7000-8000-000000000001"


def ready(skill: str, *depends_on: str) -> PackMember:
    return PackMember(skill=skill, state=PackMemberState.READY, import_id=IMPORT, depends_on=depends_on)


def here(skill: str) -> PackMember:
    return PackMember(skill=skill, state=PackMemberState.INSTALLED)


def missing(skill: str) -> PackMember:
    return PackMember(skill=skill, state=PackMemberState.UNAVAILABLE)


@pytest.mark.parametrize(
    ("members", "order"),
    [
        ([ready("a"), ready("b")], ["a", "b"]),
        ([ready("b"), ready("a")], ["b", "a"]),
        ([ready("a", "b"), ready("b")], ["b", "a"]),
        ([ready("a", "c"), ready("b"), ready("c", "b")], ["b", "c", "a"]),
        ([ready("a", "old"), here("old")], ["old", "a"]),
        ([ready("a", "elsewhere"), ready("b")], ["a", "b"]),
        ([ready("d", "b", "c"), ready("c", "a"), ready("b", "a"), ready("a")], ["a", "c", "b", "d"]),
    ],
)
def test_a_member_comes_after_what_it_depends_on_and_else_where_the_pack_names_it(
    members: list[PackMember], order: list[str]
) -> None:
    plan = pack_plan(members, frozenset({"elsewhere"}))
    assert [one.skill for one in plan.members] == order
    assert plan.problems == ()


@pytest.mark.parametrize(
    ("members", "code", "named"),
    [
        ([], ErrorCode.SKILL_PACK_MEMBER_UNAVAILABLE, ()),
        ([ready("a"), missing("b")], ErrorCode.SKILL_PACK_MEMBER_UNAVAILABLE, ("b",)),
        ([ready("a", "gone")], ErrorCode.SKILL_DEPENDENCY_MISSING, ("gone",)),
        ([ready("a", "b"), ready("b", "a")], ErrorCode.SKILL_PACK_DEPENDENCY_CYCLE, ("a", "b")),
        ([ready("a", "a")], ErrorCode.SKILL_PACK_DEPENDENCY_CYCLE, ("a",)),
        ([ready(f"s{n}") for n in range(MOST_MEMBERS + 1)], ErrorCode.SKILL_PACK_TOO_LARGE, ()),
    ],
)
def test_what_stands_in_the_way_is_named_by_its_own_code(
    members: list[PackMember], code: ErrorCode, named: tuple[str, ...]
) -> None:
    (problem,) = pack_plan(members, NOTHING).problems
    assert (problem.code, problem.skills) == (code.value, named)
    assert len(pack_plan(members, NOTHING).members) == len(members)


def test_every_obstacle_is_named_at_once() -> None:
    plan = pack_plan([ready("a", "b"), ready("b", "a"), missing("c"), ready("d", "gone")], NOTHING)
    assert {one.code for one in plan.problems} == {
        "SKILL_PACK_MEMBER_UNAVAILABLE",
        "SKILL_DEPENDENCY_MISSING",
        "SKILL_PACK_DEPENDENCY_CYCLE",
    }
