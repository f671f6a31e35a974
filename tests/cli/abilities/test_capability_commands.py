"""``apprentice capabilities`` against a whole running service."""

import pytest

from cli.platform.output import ExitCode


@pytest.fixture
def capability_id(person, taught) -> str:
    taught("capability")
    person.gets("learn", "propose", "--no-ask")
    assert person.types("learn", "validate").exit_code == ExitCode.OK
    installed = person.types("learn", "install")
    assert installed.exit_code == ExitCode.OK, installed.output
    found: str = person.gets("capabilities", "bridge")["entries"][-1]["capability_id"]
    return found


def test_an_installed_ability_is_shown_with_its_health_and_its_use_and_rechecked(
    person, capability_id: str
) -> None:
    bridge = person.types("capabilities", "bridge").stdout
    assert capability_id in bridge
    assert "degraded" in bridge or "healthy" in bridge
    health = {one["capability_id"]: one for one in person.gets("capabilities", "health")["capabilities"]}
    assert health[capability_id]["installed_state"] == "present"
    assert capability_id in person.types("capabilities", "health").stdout
    stats = {
        one["capability_id"]: one["uses"] for one in person.gets("capabilities", "stats")["capabilities"]
    }
    assert stats[capability_id] == 0
    assert capability_id in person.types("capabilities", "stats").stdout
    started = person.gets("capabilities", "reprobe", capability_id, "--canaries", "2")
    assert (started["capability_id"], started["canaries"]) == (capability_id, 2)
    assert "has begun" in person.types("capabilities", "reprobe", capability_id).stdout


def test_a_capability_of_nobody_is_not_rechecked(person) -> None:
    refused = person.types("capabilities", "reprobe", "learned.nothing")
    assert refused.exit_code == ExitCode.REFUSED
    assert "`apprentice capabilities bridge`" in refused.output
