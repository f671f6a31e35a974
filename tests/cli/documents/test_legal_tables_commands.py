"""``apprentice legal-tables configure``, typed against a running service."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from cli.platform.output import ExitCode
from stores.platform.projection.projector import Projector
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

GROUP = ("legal-tables", "configure")
CONFIG = "system/skills/config"


def tree(*roots: Path) -> dict[Path, str]:
    """Every file and folder under ``roots``, files with their digest."""
    found = [path for root in roots for path in (root, *root.rglob("*"))]
    return {
        path: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder" for path in found
    }


async def typed(here: Path, url: str, token: str, *words: str) -> Any:
    """A program of its own started in ``here``, which is its home too; what it prints as JSON."""
    ended = await anyio.run_process(
        [sys.executable, "-P", "-m", "cli.main", *GROUP, *words, "--json"],
        cwd=here,
        env={
            "HOME": str(here),
            "TMPDIR": str(here),
            "PYTHONDONTWRITEBYTECODE": "1",
            "APPRENTICE_API_URL": url,
            "APPRENTICE_TOKEN": token,
        },
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)


@pytest.mark.thorough
@pytest.mark.anyio
@pytest.mark.acceptance("R11.2-38")
async def test_set_emits_one_intent_and_writes_no_file(stack: Stack, tmp_path: Path) -> None:
    memory, workspace = stack.settings.memory_root, stack.settings.workspace
    skills, here = workspace / "skills", tmp_path / "here"
    for folder in (memory, skills, here):
        folder.mkdir(parents=True, exist_ok=True)
    alice = stack.learner()
    # What the service had to write is written, and from now on it writes when it is told to.
    stack.parts.projection.close()
    before = tree(here, workspace, memory)

    async with served(stack) as url:
        done = await typed(here, url, alice.secret, "set", "default_style=california", "passim_threshold=7")
        assert tree(here, workspace, memory) == before
        shown = await typed(here, url, alice.secret, "get")
    assert tree(here, workspace, memory) == before
    assert shown["own"] == done["own"] == {"default_style": "california", "passim_threshold": 7}
    assert shown["effective"] == done["effective"]

    Projector(stack.database, memory, workspace).catch_up()
    assert tree(here, workspace) == {
        path: digest for path, digest in before.items() if not path.is_relative_to(memory)
    }
    after = tree(memory)
    changed = {path for path in after if after[path] != before.get(path) and path.is_file()}
    (kept,) = (memory / CONFIG / "user_preference").iterdir()
    assert changed == {kept, memory / CONFIG / "intents.jsonl"}
    assert json.loads(kept.read_text())["fields"] == {
        "legal_tables.default_style": "california",
        "legal_tables.passim_threshold": 7,
    }
    (line,) = (memory / CONFIG / "intents.jsonl").read_text().splitlines()
    intent = json.loads(line)
    assert intent["intent_id"] == done["intent_id"]
    assert (intent["target"], intent["requested_by"]) == ("user_preference", "wrapper")


def test_a_set_keeps_the_rest_and_an_empty_value_is_the_default_again(person) -> None:
    person.gets(*GROUP, "set", "default_case_name_style=underline", "default_toa_title=AUTHORITIES = CITED")
    order = "default_category_order=Treatises, Constitutional Provisions"
    done = person.gets(*GROUP, "set", order, "default_case_name_style=")

    assert done["changed"] is True
    assert done["own"] == {
        "default_toa_title": "AUTHORITIES = CITED",
        "default_category_order": ["treatises", "constitutional_provisions"],
    }
    assert done["effective"]["default_case_name_style"] == "italic"
    assert done["effective"]["default_category_order"][:3] == [
        "treatises",
        "constitutional_provisions",
        "cases",
    ]
    assert "It was so already." in person.types(*GROUP, "set", "default_toa_title=AUTHORITIES = CITED").stdout


def test_get_shows_which_values_are_the_persons_own(person) -> None:
    untouched = person.types(*GROUP, "get").stdout
    assert "yours" not in untouched
    assert "configure set KEY=VALUE" in untouched

    person.gets(*GROUP, "set", "passim_threshold=4")
    rows = [line.split() for line in person.types(*GROUP, "get").stdout.splitlines()]
    assert ["passim_threshold", "4", "yours"] in rows
    assert ["default_style", "bluebook", "default"] in rows


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "nothing to set"),
        (("passim_threshold",), "KEY=VALUE"),
        (("passim=5",), "passim_threshold"),
        (("passim_threshold=1",), "has to be 2 or more"),
        (("passim_threshold=often",), "has to be a whole number"),
        (("default_pagination=custom",), "or consecutive"),
        (("default_category_order=cases,exhibits",), "treatises"),
        (("default_category_order=cases,cases",), "once"),
        (("default_style=texas", "default_style=custom"), "twice"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_to_do(person, words: tuple[str, ...], named: str) -> None:
    refused = person.types(*GROUP, "set", *words)

    assert refused.exit_code == ExitCode.USAGE
    assert named in refused.stderr
    assert person.gets(*GROUP, "get")["own"] == {}


def test_what_another_client_set_wrongly_is_shown_with_what_repairs_it(person) -> None:
    wrong = {"legal_tables.passim_threshold": "often", "legal_tables.colour": "red"}
    person.gets("config", "intents", "send", "user_preference", json.dumps(wrong))
    shown = person.types(*GROUP, "get").stdout

    assert "configure set passim_threshold=" in shown
    repair = '{"legal_tables.colour": null}'
    assert f"config intents send user_preference '{repair}'" in shown
    person.gets("config", "intents", "send", "user_preference", repair)
    assert person.gets(*GROUP, "set", "passim_threshold=")["unusable"] == []
