"""Work in sqlite3, python or an editor that nothing recorded: a person is asked, with the change that it caused."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

with_sqlite = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")

TYPED_SQL = "insert into orders select id, total from staged;"
SQL = f"sqlite3 shop.db\n{TYPED_SQL}\n.quit"
EDITOR = 'nano() { printf \'\\0%s\' "$2" >> "$1"; }'
"""Stands for an editor: what is recorded is the name that was typed. What it leaves is no text."""

NANO = "nano logo.dat x"


def made(desk: Path) -> None:
    """A database with orders that are staged, and a table of them."""
    desk.mkdir()
    (desk / "stock.csv").write_text("rowan,3\nalder,12\nelm,7\n")
    (desk / "logo.dat").write_bytes(b"\0logo")
    with closing(sqlite3.connect(desk / "shop.db")) as database:
        database.executescript(
            "create table orders (id integer, total integer);"
            "create table staged (id integer, total integer);"
            "insert into staged values (1, 20), (2, 30), (3, 40);"
        )


async def taught(
    stack: Stack, desk: Path, commands: Sequence[str], *, typed_lines: bool = False, **proposing: Any
) -> tuple[Learner, list[dict[str, Any]]]:
    """A lesson of these commands that is drafted, and what is asked of it."""
    made(desk)
    alice = stack.learner()
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Take the staged orders into the shop"})
    async with served(stack) as api:
        await record(alice, api, desk, commands, typed_lines=typed_lines)
    await alice.act("stop")
    await alice.propose(**{"ask_before_build": True, **proposing})
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    return alice, detail["questions"]


def about_unseen(questions: Sequence[dict[str, Any]]) -> list[str]:
    return [q["question_text"] for q in questions if q["question_text"].startswith("What did you")]


async def answered(alice: Learner, questions: Sequence[dict[str, Any]], *said: str) -> dict[str, Any]:
    """The detail once the first questions are answered so, and the others as suggested."""
    texts = [*said, *(one.get("suggestion") or "none" for one in questions[len(said) :])]
    answers = [
        {"question_id": one["question_id"], "answer_text": text}
        for one, text in zip(questions, texts, strict=True)
    ]
    await alice.act("answer-questions", {"answers": answers})
    return await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")


async def skill(alice: Learner) -> str:
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    return next(one["content"] for one in files["files"] if one["path"] == "SKILL.md")


async def not_rehearsed(alice: Learner) -> list[str]:
    await alice.prove()
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    return [s["details"] for s in runs["steps"] if s["test_case_id"].startswith("rehearsal/unrehearsed")]


@with_sqlite
@pytest.mark.parametrize("further", [(), ("sort stock.csv > sorted.csv",)])
async def test_what_was_typed_unseen_is_asked_and_the_answer_is_part_of_the_method_for_good(
    stack: Stack, tmp_path: Path, further: tuple[str, ...]
) -> None:
    alice, questions = await taught(stack, tmp_path / "desk", (SQL, *further))
    assert len(questions) <= 5
    (asked,) = about_unseen(questions)
    assert asked == questions[0]["question_text"]
    assert asked.startswith("What did you type in sqlite3 in “sqlite3 shop.db”? It changed shop.db")

    await answered(alice, questions, TYPED_SQL)
    assert f"as a person says: `{TYPED_SQL}`" in await skill(alice)
    await alice.propose_act("revise", {"revision_instructions": "rename the title to Take in orders"})
    assert f"as a person says: `{TYPED_SQL}`" in await skill(alice)
    assert any("sqlite3" in one for one in await not_rehearsed(alice))
