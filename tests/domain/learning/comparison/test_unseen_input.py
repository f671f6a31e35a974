"""Work in a program whose input was not seen is asked about with its change; what a person says of it is kept."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
import uuid_utils

from contracts.learning.interpretation import UnseenInput
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
    WrittenText,
)
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.commands.typed_lines import with_typed_lines
from domain.learning.comparison.unseen_input import (
    NOT_KNOWN,
    UnseenWork,
    unseen_inputs,
    unseen_note,
    with_what_was_said,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)
ID = str(uuid_utils.uuid7())


def event(command: str, *files: ProducedFile, written: Sequence[WrittenText] = ()) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=str(uuid_utils.uuid7()),
        learn_session_id=ID,
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        action_label=command[:80],
        caused_state_change=bool(files),
        terminal=TerminalObservation(
            command=command,
            exit_class=ExitClass.OK,
            working_folder=".",
            produced_files=files,
            written=tuple(written),
        ),
        created_at=NOW,
    )


def file(path: str, change: str = "modified", inside: str | None = None) -> ProducedFile:
    return ProducedFile(path=path, change=change, size_bytes=1, inside=inside)


SHOP = file("shop.db", inside="table orders: 3 rows more")


@pytest.mark.parametrize(
    ("shown", "asked"),
    [
        (
            event("sqlite3 shop.db", SHOP),
            "What did you type in sqlite3 in “sqlite3 shop.db”? It changed shop.db (table orders: 3 rows more).",
        ),
        (
            event("python3", file("median.txt", "created"), file("old.txt", "deleted")),
            "What did you type in python3 in “python3”? It made median.txt and removed old.txt.",
        ),
        (
            event("vim logo.dat", file("logo.dat")),
            "What did you do in vim in “vim logo.dat”? It changed logo.dat.",
        ),
        (
            event("nano .netrc", file(".netrc"), written=[WrittenText(path=".netrc", masked=True)]),
            "What did you do in nano in “nano .netrc”? It changed .netrc.",
        ),
        (
            event("gimp logo.png", file("logo.png")),
            "What did you do in gimp in “gimp logo.png”? It changed logo.png.",
        ),
        (
            event("cd db && sqlite3 shop.db", file("db/shop.db")),
            "What did you type in sqlite3 in “cd db && sqlite3 shop.db”? It changed db/shop.db.",
        ),
        (
            event("duckdb w.db", *(file(f"out/{n}.csv", "created") for n in range(5))),
            "What did you type in duckdb in “duckdb w.db”? It made out/0.csv, out/1.csv, out/2.csv and 2 more.",
        ),
    ],
)
def test_unseen_work_is_asked_about_with_the_change_that_it_caused(
    shown: ObservedActionEvent, asked: str
) -> None:
    (unseen,) = unseen_inputs([shown])
    doubt = UnseenWork(unseen)
    assert doubt.prompt.startswith(asked)
    assert (doubt.suggestion, doubt.event_ids) == (NOT_KNOWN, (shown.event_id,))


@pytest.mark.parametrize(
    "shown",
    [
        event(with_typed_lines("sqlite3 shop.db", ["delete from orders;"]) or "", SHOP),
        event("nano notes.md", file("notes.md"), written=[WrittenText(path="notes.md", text="hello\n")]),
        event("sqlite3 shop.db 'delete from orders'", SHOP),
        event("python3 <<'END'\nopen('a', 'w')\nEND", file("a", "created")),
        event("python3 clean.py", file("a", "created")),
        event("sqlite3 shop.db"),
        event("python3"),
        event("less notes.md"),
        event("sort a > b", file("b", "created")),
    ],
)
def test_what_was_seen_or_changed_nothing_is_not_asked_about(shown: ObservedActionEvent) -> None:
    assert unseen_inputs([shown]) == ()


def test_the_same_line_is_asked_about_once_and_others_each() -> None:
    first, other, again = (
        event("sqlite3 shop.db", SHOP),
        event("python3", SHOP),
        event("sqlite3  shop.db", SHOP),
    )
    found = unseen_inputs([first, other, again])
    assert [(one.program, one.evidence_event_ids) for one in found] == [
        ("sqlite3", (first.event_id, again.event_id)),
        ("python3", (other.event_id,)),
    ]


def test_personal_names_and_secrets_stay_out_of_the_question() -> None:
    shown = event("vim k.dat --password=hunter2secret", file("home/ann@example.org.dat"))
    (unseen,) = unseen_inputs([shown])
    assert "hunter2secret" not in unseen.command
    assert unseen.change == "changed a file"


def answer(text: str, about: str = ID) -> tuple[LearningQuestion, LearningAnswer]:
    """The question about one command, and its answer."""
    question = LearningQuestion(
        question_id=ID,
        proposal_id=ID,
        field=QuestionField.TYPED_INPUT,
        prompt="What did you type?",
        about="sqlite3 shop.db",
        suggestion=NOT_KNOWN,
        evidence_event_ids=(about,),
        created_at=NOW,
    )
    return question, LearningAnswer(question_id=ID, proposal_id=ID, answer=text, created_at=NOW)


def said(text: str, about: str = ID) -> str | None:
    """What is kept of an answer to the question about one command."""
    unseen = UnseenInput(program="sqlite3", command="sqlite3 shop.db", change="x", evidence_event_ids=(ID,))
    (found,) = with_what_was_said([unseen], [answer(text, about)])
    return found.said


@pytest.mark.parametrize(
    "text",
    [
        "insert into orders select * from staged;",
        "I copied the staged orders over, then left",
        "nothing but a select, and then .import of orders.csv",
        "no more than: vacuum;",
        "yes, I typed: delete from orders where id > 7;",
        ".quit",
        "I do not remember the exact words, but it was an insert of the staged orders",
    ],
)
def test_what_a_person_says_is_kept_word_for_word(text: str) -> None:
    assert said(f" {text}\n") == text


@pytest.mark.parametrize(
    "text",
    [
        NOT_KNOWN,
        "as suggested",
        "I don't know",
        "I do not remember it any more.",
        "Sorry, no idea!",
        "not sure",
        "skip",
        "none",
        "?",
        "hm…",
        "n/a",
        "can’t say",
        "I forgot",
    ],
)
def test_an_answer_that_tells_nothing_leaves_it_unknown(text: str) -> None:
    assert said(text) is None


def test_an_answer_that_tells_nothing_is_named_unless_it_was_suggested() -> None:
    assert unseen_note([answer("hm"), answer(NOT_KNOWN), answer("vacuum;")]) == (
        "“hm” does not say what was done in “sqlite3 shop.db”: the draft says that it is not known."
    )


def test_an_answer_about_another_command_is_not_taken_for_this_one() -> None:
    assert said("delete from orders;", about=str(uuid_utils.uuid7())) is None


def test_secrets_and_addresses_of_people_in_an_answer_are_masked() -> None:
    kept = said("update users set mail = 'ann@example.org' where key = 1; -- password=hunter2secret")
    assert kept is not None
    assert "ann@" not in kept
    assert "hunter2secret" not in kept
    assert kept.startswith("update users set mail = '[MASKED]' where key = 1;")
