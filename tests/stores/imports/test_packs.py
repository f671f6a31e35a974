"""Packs are each user's own: made, replaced by who knows their version, shown with what an install would do."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import ImportedSkillRecord, SkillImportSource, SkillImportState
from contracts.imports.import_work import SkillImport
from contracts.imports.pack_members import PackMember, SkillPackPutRequest
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from stores.imports import packs as pack_store
from stores.imports.import_tables import IMPORTS
from stores.imports.imports import SkillImports
from stores.imports.packs import SkillPacks
from stores.platform.database import Database
from tests.fixtures.installed import install

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def asked(pack_id: str = "office", *skills: str, **fields: Any) -> SkillPackPutRequest:
    return SkillPackPutRequest(pack_id=pack_id, title="Office", description="", skills=skills, **fields)


def waits(
    database: Database,
    name: str,
    *depends_on: str,
    owner: str = "alice",
    minute: int = 0,
    state: SkillImportState = SkillImportState.READY_FOR_REVIEW,
    pack: str | None = None,
) -> str:
    """A reviewed import of a skill, as its staging left it."""
    front = PortableSkillFrontmatter(
        name=name, title=name, description="", version="1", triggers=(name,), depends_on=depends_on
    )
    front_blob = SkillImports(database).keep_found(front, NOW)
    import_id = f"0199aa10-7c00-7000-8000-{abs(hash((name, owner, minute))) % 10**12:012d}"
    at = NOW.replace(minute=minute)
    one = SkillImport(
        record=ImportedSkillRecord(
            import_id=import_id,
            source=SkillImportSource.MANUAL_UPLOAD,
            skill_name=name,
            source_ref="materialized-bundle/x",
            stage_state=state,
            created_at=at,
            updated_at=at,
        ),
        owner_user_id=owner,
        upload_ref="temp-artifact-x",
        upload_expires_at=at,
        front_blob=front_blob,
        asked_pack_id=pack,
        correlation_id="test",
    )
    with database.write() as connection:
        IMPORTS.add(connection, one)
    return import_id


def members(packs: SkillPacks, pack_id: str = "office") -> list[tuple[str, str]]:
    return [(one.skill, one.state.value) for one in packs.detail(pack_id, "alice").members]


@pytest.fixture
def database(store: Database) -> Database:
    return store


@pytest.fixture
def packs(database: Database) -> SkillPacks:
    return SkillPacks(database)


def put(packs: SkillPacks, request: SkillPackPutRequest, owner: str = "alice") -> int:
    return packs.put(owner, request, NOW, "test").version


def test_a_pack_is_replaced_by_who_knows_its_version_and_the_same_again_changes_nothing(
    packs: SkillPacks,
) -> None:
    assert put(packs, asked("office", "a", expected_version=0)) == 1
    assert put(packs, asked("office", "a")) == 1
    assert put(packs, asked("office", "a", "b", expected_version=1)) == 2
    for wrong in (0, 1, 7):
        with pytest.raises(Refusal) as refused:
            put(packs, asked("office", "c", expected_version=wrong))
        assert refused.value.code is ErrorCode.CONFLICT
        assert refused.value.extra["current_version"] == 2
    assert packs.detail("office", "alice").pack.skills == ("a", "b")


def test_packs_belong_to_one_user_each(packs: SkillPacks) -> None:
    put(packs, asked("office", "a"))
    put(packs, asked("office", "b"), "bob")
    assert packs.detail("office", "bob").pack.skills == ("b",)
    packs.delete("office", "bob", NOW, "test")
    assert [one.pack_id for one in packs.list_for("alice")] == ["office"]
    assert packs.list_for("bob") == ()
    with pytest.raises(Refusal) as refused:
        packs.detail("office", "bob")
    assert refused.value.code is ErrorCode.SKILL_PACK_NOT_FOUND


def test_a_user_has_at_most_so_many_packs(packs: SkillPacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_store, "MOST_PACKS", 2)
    for pack_id in ("one", "two"):
        put(packs, asked(pack_id))
    with pytest.raises(Refusal) as refused:
        put(packs, asked("three"))
    assert refused.value.code is ErrorCode.SKILL_PACK_LIMIT_REACHED
    assert put(packs, asked("two", "a")) == 2


def test_a_member_is_installed_or_waits_for_it_or_is_missing(database: Database, packs: SkillPacks) -> None:
    install(database, "letters")
    install(database, "hers", owner="bob", install_lane="experimental_private")
    import_id = waits(database, "tables", "figures")
    waits(database, "figures")
    waits(database, "charts", owner="bob")
    put(packs, asked("office", "letters", "tables", "figures", "hers", "charts"))
    assert members(packs) == [
        ("letters", "installed"),
        ("hers", "unavailable"),
        ("charts", "unavailable"),
        ("figures", "ready"),
        ("tables", "ready"),
    ]
    detail = packs.detail("office", "alice")
    (tables,) = [one for one in detail.members if one.skill == "tables"]
    assert tables == PackMember(
        skill="tables", state=tables.state, import_id=import_id, depends_on=("figures",)
    )
    assert [one.skills for one in detail.problems] == [("hers", "charts")]


def test_the_newest_import_of_a_name_counts_so_that_nothing_older_is_installed_over_it(
    database: Database, packs: SkillPacks
) -> None:
    install(database, "tables")
    waits(database, "tables", minute=1)
    waits(database, "tables", minute=2, state=SkillImportState.INSTALLED_PRIVATE)
    put(packs, asked("office", "tables"))
    assert members(packs) == [("tables", "installed")]
    newest = waits(database, "tables", minute=3)
    (member,) = packs.detail("office", "alice").members
    assert (member.state.value, member.import_id) == ("ready", newest)


def test_an_import_that_a_person_asks_into_a_pack_is_a_member_of_it(
    database: Database, packs: SkillPacks
) -> None:
    put(packs, asked("office", "letters"))
    waits(database, "letters")
    waits(database, "tables", pack="office")
    waits(database, "charts", pack="another")
    assert members(packs) == [("letters", "ready"), ("tables", "ready")]


def test_a_skill_is_named_once(packs: SkillPacks) -> None:
    with pytest.raises(ValueError, match="twice"):
        asked("office", "a", "a")
