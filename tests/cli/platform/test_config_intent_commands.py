"""``apprentice config intents``, typed against a running service."""

import json
import shlex

import pytest

from cli.platform.config_commands import KINDS
from cli.platform.output import ExitCode
from contracts.platform.configuration import ConfigurationTarget


def test_the_list_names_every_target_with_its_scope_and_what_is_set(person) -> None:
    before = person.gets("config", "intents", "list")["targets"]
    assert {one["target"]: one["required_scope"] for one in before} == {
        "skill_config": "learn",
        "user_preference": "learn",
        "support_pack_binding": "learn",
        "connector_policy": "approve",
    }
    person.gets("config", "intents", "send", "user_preference", '{"language": "de"}')
    text = person.types("config", "intents", "list").stdout

    assert '{"language": "de"} (revision 1)' in text
    assert "nothing yet" in text
    assert "apprentice config intents send" in text


def test_a_field_that_is_null_is_taken_away_and_the_rest_stays(person) -> None:
    person.gets("config", "intents", "send", "user_preference", '{"language": "de", "theme": "dark"}')
    answer = person.gets("config", "intents", "send", "user_preference", '{"language": null}')

    assert answer["configuration"]["fields"] == {"theme": "dark"}
    same = person.types("config", "intents", "send", "user_preference", '{"theme": "dark"}')
    assert "It was so already" in same.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("user_preference", "{language: de}"),
        ("user_preference", "{}"),
        ("user_preference", "[1]"),
        ("user_preference", '{"a": 1}', "--capability", "learned.x"),
        ("skill_config", '{"currency": "EUR"}'),
        ("weather", "{}"),
    ],
)
def test_what_cannot_be_sent_is_a_usage_error(person, arguments: tuple[str, ...]) -> None:
    assert person.types("config", "intents", "send", *arguments).exit_code == ExitCode.USAGE


def test_what_is_missing_is_named_with_the_command_that_works(person) -> None:
    refused = person.types("config", "intents", "send", "skill_config", '{"currency": "EUR"}')

    assert "--capability" in refused.stderr
    assert "apprentice abilities list" in refused.stderr


def test_an_ability_that_cannot_be_seen_is_refused(person) -> None:
    words = ("skill_config", '{"currency": "EUR"}', "--capability", "learned.nowhere")
    refused = person.types("config", "intents", "send", *words)

    assert refused.exit_code == ExitCode.REFUSED
    assert "ABILITY_NOT_FOUND" in refused.stderr


@pytest.mark.parametrize(
    "target", [ConfigurationTarget.USER_PREFERENCE, ConfigurationTarget.CONNECTOR_POLICY]
)
def test_the_example_that_is_shown_can_be_sent(person, target: ConfigurationTarget) -> None:
    (payload,) = shlex.split(f"'{KINDS[target].example}'")

    assert person.gets("config", "intents", "send", target.value, payload)["changed"] is True
    assert json.loads(payload)
