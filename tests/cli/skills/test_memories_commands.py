"""``apprentice memories``: what skills remember is listed and erased, and their questions answered, as it is typed."""

import json
import time
from typing import Any

from cli.platform.output import ExitCode
from tests.cli.conftest import Person


def ran(person: Person, skill: str, given: dict[str, Any]) -> dict[str, Any]:
    """A skill's run to its end, confirmed where it asks."""
    view = person.gets("skills", "run", skill, "-i", json.dumps(given), "--confirmed")
    assert view["status"] == "success", view
    return view


def test_a_memory_is_listed_and_erased_for_good(person: Person) -> None:
    assert "Nothing is remembered" in person.types("memories", "list").stdout
    ran(person, "store-memory-item", {"text": "The key is under the blue pot."})
    assert "under the blue pot" in " ".join(person.types("memories", "list").stdout.split())
    (kept,) = person.gets("memories", "list", "--kind", "memory")["memories"]
    assert "is erased" in person.types("memories", "erase", kept["memory_id"]).stdout
    assert person.gets("memories", "list")["total"] == 0
    again = person.types("memories", "erase", kept["memory_id"])
    assert again.exit_code == ExitCode.REFUSED


def test_facts_are_listed_by_subject_and_erased(person: Person) -> None:
    assert "No facts are known" in person.types("memories", "facts").stdout
    fact = {"subject": "anna", "predicate": "plays", "object": "cello"}
    ran(person, "upsert-world-fact", fact)
    assert "anna plays cello" in person.types("memories", "facts", "--subject", "anna").stdout
    assert person.gets("memories", "facts", "--subject", "ben")["facts"] == []
    (kept,) = person.gets("memories", "facts")["facts"]
    assert "is erased" in person.types("memories", "erase", kept["fact_id"]).stdout
    assert person.gets("memories", "facts")["facts"] == []


def test_a_question_of_a_skill_is_answered_where_it_is_typed(person: Person) -> None:
    asked = person.gets(
        "skills", "run", "ask-clarifying-question", "-i", '{"question": "Which cello?"}', "--confirmed"
    )
    (item,) = person.gets("inbox", "--kind", "question")["items"]
    assert item["text"] == "Which cello?"
    assert f"apprentice memories answer {item['item_id']}" in item["next_action"]
    empty = person.types("memories", "answer", item["item_id"], "")
    assert (empty.exit_code, "1 to 4000" in empty.stderr) == (ExitCode.USAGE, True)
    assert "goes on with it" in person.types("memories", "answer", item["item_id"], "The old one").stdout
    while (view := person.gets("skills", "result", asked["invocation_id"]))["status"] in (
        "queued",
        "running",
    ):
        time.sleep(0.1)
    assert view["status"] == "success", view
    assert "The old one" in json.dumps(view["outputs"])
    late = person.types("memories", "answer", item["item_id"], "The new one")
    assert late.exit_code == ExitCode.REFUSED
