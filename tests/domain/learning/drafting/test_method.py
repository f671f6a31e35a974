"""What SKILL.md states of the method: no word of how a program came to be that is kept under scripts/."""

from datetime import UTC, datetime
from uuid import uuid4

from contracts.learning.evidence import CommandUse, LessonEvidence, WrittenScript
from contracts.learning.proposal import RehearsalCommand
from domain.learning.drafting.method import method_facts, script_files

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
    (fact,) = method_facts(commands, (), evidence)
    assert "b.txt" in fact.words
    assert [file.path for file in script_files(evidence)] == ["scripts/page.awk"]


def test_they_stay_where_the_program_is_not_kept_for_a_secret_in_it() -> None:
    commands, evidence = evidence_of('BEGIN { password = "Xk29vLqp81hZ" } # AKIAIOSFODNN7EXAMPLE\n')
    assert script_files(evidence) == []
    assert len(method_facts(commands, (), evidence)) == 3


def test_a_command_that_ran_in_a_folder_says_which() -> None:
    commands, evidence = evidence_of("{ print $2 }\n")
    inner = commands[2].changed(working_folder="albums/old")
    (fact,) = method_facts([inner], (), evidence)
    assert fact.words.startswith("in 'albums/old': awk: ")
