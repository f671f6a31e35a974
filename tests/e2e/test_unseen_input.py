"""Work in sqlite3, python or an editor that nothing recorded: a person is asked, with the change that it caused."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.canaries import canary
from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

with_sqlite = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")

TYPED_SQL = "insert into orders select id, total from staged;"
SQL = f"sqlite3 shop.db\n{TYPED_SQL}\n.quit"
PYTHON = "python3\nopen('report.txt', 'w').write('22\\n') and None\nexit()"
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
    changed = "changed shop.db (table orders: 3 rows more)"
    assert asked.startswith(f"What did you type in sqlite3 in “sqlite3 shop.db”? It {changed}.")

    await answered(alice, questions, TYPED_SQL)
    assert f"`sqlite3 shop.db` {changed}. Done in sqlite3, as a person says: `{TYPED_SQL}`" in await skill(
        alice
    )
    await alice.propose_act("revise", {"revision_instructions": "rename the title to Take in orders"})
    assert f"as a person says: `{TYPED_SQL}`" in await skill(alice)
    (left,) = await not_rehearsed(alice)
    assert "sqlite3 waits for what a person types" in left


async def test_two_unseen_works_are_both_asked_about_and_keep_their_own_answers(
    stack: Stack, tmp_path: Path
) -> None:
    commands = (EDITOR, PYTHON, NANO, "sort stock.csv > sorted.csv")
    alice, questions = await taught(stack, tmp_path / "desk", commands)
    in_python, in_nano = about_unseen(questions)
    assert "What did you type in python3 in “python3”? It made report.txt." in in_python
    assert "What did you do in nano in “nano logo.dat x”? It changed logo.dat." in in_nano

    detail = await answered(alice, questions, "I summed the second column\nand wrote it to report.txt")
    kept = {one["program"]: one.get("said") for one in detail["interpretation"]["unseen_inputs"]}
    assert kept == {"python3": "I summed the second column\nand wrote it to report.txt", "nano": None}
    text = await skill(alice)
    assert "  I summed the second column\n  and wrote it to report.txt\n" in text
    assert "What was done in nano is not known: ask before you go on." in text
    assert len(await not_rehearsed(alice)) == 2


async def test_what_nobody_answers_is_said_to_be_unknown_and_stays_not_rehearsed(
    stack: Stack, tmp_path: Path
) -> None:
    alice, questions = await taught(stack, tmp_path / "desk", (PYTHON,), ask_before_build=False)
    assert questions == []
    assert "`python3` made report.txt. What was done in python3 is not known" in await skill(alice)
    (left,) = await not_rehearsed(alice)
    assert "python3 waits for what a person types" in left


async def test_a_secret_in_an_answer_is_masked_wherever_the_answer_goes(stack: Stack, tmp_path: Path) -> None:
    secret = canary("answered")
    alice, questions = await taught(stack, tmp_path / "desk", (PYTHON,))
    detail = await answered(alice, questions, f"open('report.txt', 'w').write('password={secret}')")
    text = await skill(alice)
    assert "as a person says: `open('report.txt', 'w').write('password=[MASKED]" in text
    assert secret not in text + str(detail)


@with_sqlite
async def test_what_was_seen_as_it_was_typed_is_not_asked(stack: Stack, tmp_path: Path) -> None:
    alice, questions = await taught(stack, tmp_path / "desk", (SQL,), typed_lines=True)
    assert about_unseen(questions) == []
    assert "What was done by hand" not in await skill(alice)
