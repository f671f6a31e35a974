"""``apprentice abilities`` against a whole running service."""

import io

import pytest
from rich.console import Console

from cli.abilities.ability_commands import abilities_view
from cli.platform.output import ExitCode

pytestmark = pytest.mark.thorough


@pytest.fixture
def ability_id(person, taught) -> str:
    return installed(person, taught, "payroll")


def installed(person, taught, subject: str) -> str:
    """An ability of this person's own, by its id."""
    session_id = taught(subject)
    person.gets("learn", "propose", "--no-ask")
    validated = person.types("learn", "validate")
    assert validated.exit_code == ExitCode.OK, validated.output
    answer = person.types("learn", "install")
    assert answer.exit_code == ExitCode.OK, answer.output
    found: str = person.gets("learn", "status", session_id)["ability_id"]
    return found


def test_an_installed_ability_is_listed_found_explained_and_versioned(person, ability_id: str) -> None:
    listed = {one["ability_id"]: one["usable_now"] for one in person.gets("abilities", "list")["abilities"]}
    assert listed[ability_id] is True
    assert ability_id in person.types("abilities", "list").stdout

    found = person.gets("abilities", "lookup", "sort the payroll list and pack it")["matches"]
    assert found[0]["ability_id"] == ability_id
    assert found[0]["fit"] == "yes"
    assert ability_id in person.types("abilities", "lookup", "sort the payroll list").stdout
    refused = person.types("abilities", "lookup", "print the payroll list").stdout
    assert "No ability fits." in refused
    assert "--all" in refused
    assert ability_id not in refused
    assert ability_id in person.types("abilities", "lookup", "--all", "print the payroll list").stdout

    why = person.gets("abilities", "explain", ability_id, "sort the payroll list and pack it")
    assert why["matched"] is True
    assert (
        "fits" in person.types("abilities", "explain", ability_id, "sort the payroll list and pack it").stdout
    )
    assert "does not fit" in person.types("abilities", "explain", ability_id, "book a flight").stdout

    versions = person.gets("abilities", "versions", ability_id)["versions"]
    assert [(one["version"], one["current"]) for one in versions] == [(1, True)]
    assert "experimental_private" in person.types("abilities", "versions", ability_id).stdout

    shown = person.types("abilities", "show", ability_id).stdout
    assert "SKILL.md" in shown
    assert "usable now   yes" in shown
    offered = next(line for line in shown.splitlines() if "you may" in line).split("you may")[1].split("·")
    assert "promote" in [one.strip() for one in offered]
    for one in offered:
        assert person.types("abilities", one.strip(), "--help").exit_code == ExitCode.OK


def test_without_abilities_the_list_says_how_to_get_one() -> None:
    out = io.StringIO()
    Console(file=out, width=100).print(abilities_view(()))
    assert "apprentice learn create" in out.getvalue()


def test_what_fits_nothing_finds_nothing(person) -> None:
    assert "No ability fits" in person.types("abilities", "lookup", "zzz qqq xxx").stdout


def test_an_ability_of_nobody_is_not_found(person) -> None:
    refused = person.types("abilities", "show", "learned.nothing")
    assert refused.exit_code == ExitCode.REFUSED
    assert "ABILITY_NOT_FOUND" in refused.stderr


def test_an_ability_is_switched_off_quarantined_shared_and_put_away(person, taught) -> None:
    ability_id = installed(person, taught, "mileage")
    assert person.gets("abilities", "deactivate", ability_id) == {"ability_id": ability_id, "enabled": False}
    assert "Deactivated" in person.types("abilities", "list").stdout
    assert "is activated" in person.types("abilities", "activate", ability_id).stdout

    refused = person.types("abilities", "activate", ability_id)
    assert refused.exit_code == ExitCode.REFUSED
    assert "INVALID_LEARN_STATE_TRANSITION" in refused.stderr

    quarantined = person.gets("abilities", "quarantine", ability_id, "--reason", "it went wrong")
    assert (quarantined["quarantined"], quarantined["reason"]) == (True, "it went wrong")
    shown = person.types("abilities", "show", ability_id).stdout
    assert "it went wrong" in shown
    assert "unquarantine" in shown
    assert "1 quarantined or switched off; --all" in person.types("abilities", "lookup", "zzz qqq").stdout
    looked_up = person.types("abilities", "lookup", "--all", "add up the mileage").stdout
    back = f"apprentice abilities unquarantine {ability_id} --reason WHY"
    assert f"{ability_id} is quarantined; {back} brings it back\n" in looked_up
    assert person.gets("abilities", "lookup", "--all", "add up the mileage")["matches"] == []
    assert person.types("abilities", "unquarantine", ability_id).exit_code == ExitCode.REFUSED
    lifted = person.types("abilities", "unquarantine", ability_id, "--reason", "it was right")
    assert "out of quarantine" in lifted.stdout
    assert "the quarantine was lifted" in " ".join(person.types("learn", "status").stdout.split())
    assert "quarantined (lifted)" in person.types("learn", "list").stdout

    assert person.gets("abilities", "promote", ability_id)["install_lane"] == "shared_promoted"
    assert "experimental_private" in person.types("abilities", "demote", ability_id).stdout
    refused = person.types("abilities", "rollback", ability_id)
    assert refused.exit_code == ExitCode.REFUSED
    assert person.gets("abilities", "outcomes", ability_id)["quarantines"] == 1
    assert "quarantines" in person.types("abilities", "outcomes", ability_id).stdout
    assert person.gets("abilities", "archive", ability_id) == {"ability_id": ability_id, "archived": True}
    assert "Archived" in person.types("abilities", "list").stdout
