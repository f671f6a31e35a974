"""What SKILL.md states of the method: no word of how a program came to be that is kept under scripts/."""

from datetime import UTC, datetime
from uuid import uuid4

from contracts.learning.evidence import CommandUse, LessonEvidence, WrittenScript
from contracts.learning.observation import OUTSIDE_FOLDER, ObservedActionEvent, WrittenText
from contracts.learning.proposal import RehearsalCommand
from domain.learning.drafting.drafting import draft_skill
from domain.learning.drafting.method import EXAMPLE, method_facts, written_programs
from domain.learning.drafting.skill_markdown import NOT_REPLAYED
from domain.learning.redaction.redaction import redact
from tests.domain.conftest import Learned, Teaching

T = Teaching()

LINES = (
    ("cat > page.awk <<'END'\n{ print $3 }\nEND", "page.awk"),
    ("sed -i s/3/2/ page.awk", "page.awk"),
    ("awk -f page.awk a.txt > b.txt", "b.txt"),
)


def evidence_of(content: str) -> tuple[tuple[RehearsalCommand, ...], LessonEvidence]:
    commands = tuple(
        RehearsalCommand(event_id=str(uuid4()), command=line, working_folder=".") for line, _ in LINES
    )
    evidence = LessonEvidence(
        state_id=str(uuid4()),
        reproduced=True,
        kept=tuple(c.event_id for c in commands),
        uses=tuple(
            CommandUse(event_id=c.event_id, succeeded=True, written=(written,))
            for c, (_, written) in zip(commands, LINES, strict=True)
        ),
        scripts=(WrittenScript(path="page.awk", content=content),),
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return commands, evidence


def test_commands_that_only_wrote_a_kept_program_are_left_to_the_program() -> None:
    commands, evidence = evidence_of("{ print $2 }\n")
    (fact,) = method_facts(commands, (), written_programs((), evidence))
    assert "b.txt" in fact.words
    assert [file.path for file in written_programs((), evidence).files] == ["scripts/page.awk"]


def test_they_stay_where_the_program_is_not_kept_for_a_secret_in_it() -> None:
    commands, evidence = evidence_of('BEGIN { password = "Xk29vLqp81hZ" } # AKIAIOSFODNN7EXAMPLE\n')
    assert written_programs((), evidence).files == []
    assert len(method_facts(commands, (), written_programs((), evidence))) == 3


def test_a_command_that_ran_in_a_folder_says_which() -> None:
    commands, evidence = evidence_of("{ print $2 }\n")
    inner = commands[2].changed(working_folder="albums/old")
    (fact,) = method_facts([inner], (), written_programs((), evidence))
    assert fact.words.startswith("in 'albums/old': awk: ")


def edited(at: int, command: str, path: str, text: str | None) -> ObservedActionEvent:
    """A command in which a person wrote the text of a file by hand."""
    event = T.command(at, command, f"+{path}")
    assert event.terminal is not None
    written = (WrittenText(path=path, text=text, masked=text is None),)
    return event.changed(terminal=event.terminal.changed(written=written))


def scripts_in(learned: Learned) -> dict[str, str]:
    return {f.path: f.content for f in learned.draft.files if f.path.startswith("scripts/")}


RUN = "python3 clean.py raw.csv > clean.csv"


def test_a_lesson_that_was_not_replayed_states_what_was_typed_and_that_it_was_not_replayed() -> None:
    learned = T.learn([T.command(1, "sort -t, -k2 -nr sales.csv > top.csv", "+top.csv")])
    for text in (learned.file("SKILL.md"), learned.file(EXAMPLE)):
        assert NOT_REPLAYED in text
        assert "sales.csv" in text
    assert "sort: fields are separated by `,`, sorted by field 2" in learned.file("SKILL.md")
    assert "sort -t, -k2 -nr sales.csv > top.csv" in learned.file(EXAMPLE)
    assert "sort -t, -k2 -nr sales.csv > top.csv" not in learned.file("SKILL.md")


def test_a_replay_that_ended_otherwise_proves_nothing_of_the_method() -> None:
    commands, evidence = evidence_of("{ print $2 }\n")
    failed = evidence.changed(reproduced=False, kept=(), scripts=())
    learned = T.learn(
        [edited(1, "nano page.awk", "page.awk", "{ print $3 }\n"), T.command(2, LINES[2][0], "+b.txt")]
    )
    draft = draft_skill(learned.interpretation, learned.steps, T.session(), evidence=failed)
    found = {file.path: file.content for file in draft.files}
    assert "awk: " in found["SKILL.md"]
    assert commands[2].command in found[EXAMPLE]
    assert NOT_REPLAYED in found["SKILL.md"]
    assert found["scripts/page.awk"] == "{ print $3 }\n"


def test_what_looked_around_is_in_no_fact_of_a_lesson_that_was_not_replayed() -> None:
    learned = T.learn(T.reports())
    for text in (learned.file("SKILL.md"), learned.file(EXAMPLE)):
        assert "reportz" not in text
    assert "ls -la reports" not in learned.file(EXAMPLE)


def test_a_program_that_was_written_and_run_is_kept_without_a_replay_as_it_ran_last() -> None:
    learned = T.learn(
        [
            edited(1, "nano clean.py", "clean.py", "print(1)\n"),
            T.command(2, RUN, "+clean.csv"),
            edited(3, "nano clean.py", "clean.py", "print(2)\n"),
            T.command(4, RUN.replace("clean.csv", "better.csv"), "+better.csv"),
            edited(5, "nano notes.py", "notes.py", "print('never run')\n"),
        ]
    )
    assert scripts_in(learned) == {"scripts/clean.py": "print(2)\n"}
    assert "kept in `scripts/clean.py`" in learned.file("SKILL.md")


def test_a_program_whose_text_is_not_known_as_it_ran_is_not_kept() -> None:
    changed = T.learn(
        [
            edited(1, "nano clean.py", "clean.py", "print(1)\n"),
            T.command(2, "sed -i s/1/2/ clean.py", "~clean.py"),
            T.command(3, RUN, "+clean.csv"),
        ]
    )
    masked = T.learn([edited(1, "nano clean.py", "clean.py", None), T.command(3, RUN, "+clean.csv")])
    assert (scripts_in(changed), scripts_in(masked)) == ({}, {})
    assert "clean.py" in masked.file(EXAMPLE)


def test_a_command_that_ran_outside_says_so_without_naming_a_folder() -> None:
    learned = T.learn(
        [T.command(1, "cp a.txt b.txt", "+b.txt", folder=OUTSIDE_FOLDER), T.command(2, "cp c d", "+d")]
    )
    assert "- outside the folder of the lesson: cp: from `a.txt`, to `b.txt`" in learned.file("SKILL.md")
    assert "1. Outside the folder of the lesson" in learned.file(EXAMPLE)


def test_what_was_masked_when_it_was_recorded_stays_masked_beside_the_rest_of_its_command() -> None:
    line = redact(
        "curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz012345' example.org -o rows.json"
    )
    learned = T.learn([T.command(1, line.text, "+rows.json")])
    assert line.masked_count
    assert "curl: writes `rows.json`" in learned.file("SKILL.md")
    assert "-o rows.json" in learned.file(EXAMPLE)


def test_what_only_a_person_can_do_is_shown_though_no_rehearsal_repeats_it() -> None:
    learned = T.learn(
        [T.command(1, "gimp logo.xcf", "+logo.png"), T.command(2, "cp logo.png site.png", "+site.png")]
    )
    assert [one.command for one in learned.draft.rehearsal] == ["cp logo.png site.png"]
    assert "gimp: given `logo.xcf`" in learned.file("SKILL.md")
    assert "gimp logo.xcf" in learned.file(EXAMPLE)
