"""Versions of skills: which are served, which is meant, how long an old one stays (CH-65, CH-66, X-30)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from domain.skills.entries import catalog_entry
from domain.skills.versions import breaks_without_major, resolve, served
from tests.domain.skills.manifests import manifest

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def record(version: str, deprecated_since: datetime | None = None) -> SkillRecord:
    return SkillRecord(
        root=SkillRoot.MANAGED,
        name="probe",
        state=SkillState.READY,
        digest="0" * 64,
        path="/skills/probe",
        manifest=manifest(
            version=version, deprecated_since=deprecated_since, timeout_ms=5_000, max_attempts=3
        ),
        seen_at=NOW,
    )


def versions(records: tuple[SkillRecord, ...]) -> list[str]:
    return [one.manifest.version for one in records if one.manifest is not None]


ALL = [record(version) for version in ("1.0.0", "3.0.1", "2.9.0", "2.10.0", "1.4.0", "3.0.0")]


@pytest.mark.acceptance("CH-65")
@pytest.mark.acceptance("X-30")
def test_the_last_two_majors_are_served_each_in_its_newest_minor() -> None:
    """V1, v2, v3 present."""
    assert versions(served(ALL, NOW)) == ["3.0.1", "2.10.0"]


@pytest.mark.acceptance("CH-64")
@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        (None, "3.0.1"),
        ("3.0.1", "3.0.1"),
        ("3", "3.0.1"),
        ("v2", "2.10.0"),
        ("v2.0", "2.10.0"),
        ("2.9.0", "2.10.0"),
        ("probe@v2.10", "2.10.0"),
        ("skill@v3.0", "3.0.1"),
    ],
)
@pytest.mark.acceptance("X-30")
def test_a_version_may_be_written_in_each_of_the_documented_ways(wanted: str | None, version: str) -> None:
    """X-30: `@v1.0` gets the newest 1.x."""
    found, warnings = resolve(ALL, wanted, NOW)
    assert (versions((found,)), warnings) == ([version], ())


@pytest.mark.acceptance("CH-65")
@pytest.mark.parametrize("wanted", ["1", "1.4.0", "skill@v1.0", "2.11", "3.1.0", "4"])
@pytest.mark.produces("*", "VERSION_RETIRED")
def test_a_version_that_is_not_served_is_refused_and_those_that_are_are_named(wanted: str) -> None:
    with pytest.raises(Refusal) as refusal:
        resolve(ALL, wanted, NOW)
    assert refusal.value.code is ErrorCode.VERSION_RETIRED
    assert refusal.value.extra == {"served": ["3.0.1", "2.10.0"]}


@pytest.mark.parametrize("wanted", ["", "latest", "v", "1.2.3.4", "1.x", "-1", "probe@"])
def test_what_is_no_version_is_bad_input(wanted: str) -> None:
    with pytest.raises(Refusal) as refusal:
        resolve(ALL, wanted, NOW)
    assert refusal.value.code is ErrorCode.VALIDATION_FAILED


@pytest.mark.acceptance("CH-66")
def test_a_deprecated_version_warns_for_thirty_days_and_then_goes() -> None:
    """Served on day 30, not on day 31."""
    since = NOW - timedelta(days=30)
    old = [record("2.0.0"), record("1.0.0", since)]
    found, warnings = resolve(old, "v1", NOW)
    assert versions((found,)) == ["1.0.0"]
    assert warnings == (f"probe 1.0.0 is deprecated and served until {NOW:%Y-%m-%d}.",)
    with pytest.raises(Refusal):
        resolve(old, "v1", NOW + timedelta(days=1))
    assert resolve(old, None, NOW)[1] == ()


def test_nothing_is_served_of_what_is_gone_altogether() -> None:
    with pytest.raises(Refusal) as refusal:
        resolve([record("1.0.0", NOW - timedelta(days=31))], None, NOW)
    assert refusal.value.code is ErrorCode.VERSION_RETIRED


@given(st.permutations(ALL))
def test_the_order_of_folders_does_not_matter(records: list[SkillRecord]) -> None:
    assert versions(served(records, NOW)) == ["3.0.1", "2.10.0"]


@pytest.mark.acceptance("CH-65")
@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        ("1.0.0", "1.1.0", True),
        ("1.0.0", "1.0.1", True),
        ("1.0.0", "2.0.0", False),
    ],
)
def test_required_inputs_change_with_a_major_only(before: str, after: str, broken: bool) -> None:
    """A new optional parameter is a minor, a changed required one a major."""
    old = manifest(version=before, required=["text"])
    for required in ([], ["text", "more"], ["more"]):
        problem = breaks_without_major(old, manifest(version=after, required=required))
        assert (problem is not None) is broken
    more = {"text": {"type": "string"}, "more": {"type": "string"}}
    assert breaks_without_major(old, manifest(version=after, required=["text"], properties=more)) is None


@pytest.mark.acceptance("CH-65", "AI-05")
@pytest.mark.acceptance("X-19")
def test_an_entry_shows_its_versions_and_what_it_takes_at_most() -> None:
    """X-19."""
    newest, older = record("2.0.0"), record("1.3.0")
    entry = catalog_entry(newest, [newest, older])
    assert (entry.version, entry.versions) == ("2.0.0", ("2.0.0", "1.3.0"))
    assert (entry.timeout_ms, entry.max_attempts, entry.total_timeout_ms) == (5_000, 3, 20_000)
    assert (entry.function_name, entry.input_schema_id, entry.state) == ("probe", "probe/input", "ready")


@pytest.mark.acceptance("AM-03")
def test_of_an_unlisted_folder_nothing_but_its_name_is_shown() -> None:
    """And how it can be approved."""
    unread = SkillRecord(
        root=SkillRoot.WORKSPACE, name="mine", state=SkillState.AWAITING_APPROVAL, path="/w/mine", seen_at=NOW
    )
    shown = catalog_entry(unread).model_dump(exclude_defaults=True, exclude_none=True)
    assert shown == {
        "name": "mine",
        "root": "workspace",
        "state": "awaiting_approval",
        "next_action": "Look at it and approve it: apprentice skills approve mine",
    }


@pytest.mark.acceptance("CH-66")
def test_a_deprecated_entry_says_how_long_it_stays() -> None:
    entry = catalog_entry(record("1.0.0", NOW))
    assert entry.warnings == (f"Deprecated; served until {NOW + timedelta(days=30):%Y-%m-%d}.",)
