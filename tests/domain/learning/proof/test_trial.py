from collections.abc import Mapping, Sequence
from uuid import uuid4

import pytest

from contracts.abilities.parameters import ParameterType
from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import ConditionKind, ProofCondition
from contracts.learning.interpretation import SkillParameter
from contracts.learning.proposal import DraftedFile, RehearsalCommand, SkillDraft
from domain.learning.proof.trial import Trial, ability_parameters, trial_of


def _draft(
    *commands: str, conditions: Sequence[ProofCondition] = (), scripts: Mapping[str, str] | None = None
) -> SkillDraft:
    return SkillDraft(
        title="t",
        slug="t",
        description="d",
        trigger_phrases=(),
        negative_triggers=(),
        files=tuple(DraftedFile(path=f"scripts/{n}", content=c) for n, c in (scripts or {}).items()),
        capability_id="c",
        rehearsal=tuple(
            RehearsalCommand(event_id=str(uuid4()), command=one, working_folder=".") for one in commands
        ),
        conditions=tuple(conditions),
    )


def _parameter(
    name: str, *shown: str, kind: ParameterType = ParameterType.TEXT, required: bool = True
) -> SkillParameter:
    return SkillParameter(name=name, type=kind, description=name, examples=shown, required=required)


FILE = _parameter("input_file", "march data.csv", kind=ParameterType.PATH)
MONTH = _parameter("month", "march", required=False)
COUNT = _parameter("number", "5", kind=ParameterType.NUMBER, required=False)


def _commands(trial: Trial) -> list[str]:
    return [one.command for one in trial.commands]


def _refused(draft: SkillDraft, parameters: Sequence[SkillParameter], values: Mapping[str, str]) -> Refusal:
    with pytest.raises(Refusal) as refused:
        trial_of(draft, parameters, values)
    return refused.value


def test_values_take_the_place_of_those_shown_wherever_they_stand() -> None:
    draft = _draft("mkdir -p out/march", "sort -n 'march data.csv' | head -n 5 > out/march/top5.txt")
    values = {"input_file": "may.csv", "month": "may", "number": "10"}
    assert _commands(trial_of(draft, (FILE, MONTH, COUNT), values)) == [
        "mkdir -p out/may",
        "sort -n 'may.csv' | head -n 10 > out/may/top5.txt",
    ]


def test_a_value_of_signs_alone_stays_within_longer_words() -> None:
    here = _parameter("folder", ".", kind=ParameterType.PATH)
    draft = _draft("find . -type f > ../usb/a.txt", "cd ../usb && ./count 1.5 a.b")
    assert _commands(trial_of(draft, (here,), {"folder": "d"})) == [
        "find d -type f > ../usb/a.txt",
        "cd ../usb && ./count 1.5 a.b",
    ]


def test_what_keeps_its_value_is_left_as_it_was_shown() -> None:
    draft = _draft("sort 'march data.csv' > march.txt")
    trial = trial_of(draft, (FILE, MONTH), {"input_file": "march data.csv"})
    assert trial.commands == draft.rehearsal


def test_values_are_exchanged_all_at_once() -> None:
    draft = _draft("diff -r release-1.2 release-1.3 > changed.txt")
    old, new = _parameter("old", "release-1.2"), _parameter("new", "release-1.3")
    trial = trial_of(draft, (old, new), {"old": "release-1.3", "new": "release-1.4"})
    assert _commands(trial) == ["diff -r release-1.3 release-1.4 > changed.txt"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("head -5 a", "head -12 a"),
        ("tail -n5 a", "tail -n12 a"),
        ("convert a -resize 5x5 b", "convert a -resize 12x5 b"),
        ("find . -mtime +5", "find . -mtime +12"),
        ("split -b 5M a", "split -b 12M a"),
        ("cat 2025-5-11 v1.5.2 top5 15 | head -n 5", "cat 2025-5-11 v1.5.2 top5 15 | head -n 12"),
    ],
)
def test_a_short_number_is_found_where_it_is_a_number_of_its_own(command: str, expected: str) -> None:
    assert _commands(trial_of(_draft(command), (COUNT,), {"number": "12"})) == [expected]


def test_a_short_number_leaves_fields_keys_and_line_numbers_alone() -> None:
    draft = _draft(
        "sort -t, -k5,5nr a.csv | head -n 5 | cut -d, -f1,5 > top.csv",
        "awk -F, 'NR==5 || $5>50 {print s/5}' a.csv > b.csv",
    )
    assert _commands(trial_of(draft, (COUNT,), {"number": "2"})) == [
        "sort -t, -k5,5nr a.csv | head -n 2 | cut -d, -f1,5 > top.csv",
        "awk -F, 'NR==5 || $5>50 {print s/5}' a.csv > b.csv",
    ]


def test_a_condition_keeps_a_number_that_a_file_holds_by_chance() -> None:
    def holding(text: str) -> ProofCondition:
        return ProofCondition(kind=ConditionKind.HOLDS_TEXT, path="a", argument=text, statement="Holds")

    draft = _draft(
        "head -n 5 a > top-5.txt",
        "echo 'The 5 best' > title",
        conditions=(holding("anna,5"), holding("The 5 best")),
    )
    trial = trial_of(draft, (COUNT,), {"number": "2"})
    assert [one.argument for one in trial.conditions] == ["anna,5", "The 2 best"]


@pytest.mark.parametrize(
    "value",
    [
        "a; touch x",
        "$(touch x)",
        "`touch x`",
        "a' 'b",
        'a"b',
        "a\\",
        "*",
        "~",
        "a & b",
        "> x",
        "#",
        "{a,b}",
        "!!",
    ],
)
def test_a_value_never_becomes_code(value: str) -> None:
    draft = _draft("sort march > 'out march'", 'cp march "b march $HOME"')
    quoted, doubled = value.replace("'", "'\\''"), value
    for character in '\\"$`':
        doubled = doubled.replace(character, "\\" + character) if character in '\\"$`' else doubled
    first, second = _commands(trial_of(draft, (MONTH,), {"month": value}))
    assert f"'out {quoted}'" in first
    assert first.startswith("sort '")
    assert second.endswith(f'"b {doubled} $HOME"')


@pytest.mark.parametrize(
    "command",
    [
        "sed 's/x/march/' a",
        "awk '/march/ {print $1}' a",
        "bash -c 'cat march'",
        "sqlite3 a.db \"select * from t where m = 'march'\"",
        "python3 -c 'print(\"march\")'",
        "find . -name march -exec sh -c 'cat march' \\;",
        "echo `cat march`",
        "echo $'march'",
        "eval cat march",
    ],
)
def test_the_text_of_a_program_takes_plain_values_only(command: str) -> None:
    draft = _draft(command)
    assert _commands(trial_of(draft, (MONTH,), {"month": "may_2"})) == [command.replace("march", "may_2")]
    for value in ("may/e", "x'; DROP TABLE t; --", 'x") or system("id', "$(id)", "a\\nb"):
        refusal = _refused(draft, (MONTH,), {"month": value})
        assert refusal.code is ErrorCode.VALIDATION_FAILED
        assert "month" in refusal.message


def test_a_script_that_is_written_first_takes_plain_values_only() -> None:
    draft = _draft("cat > clean.sh <<'EOF'\ncat march\nEOF", "bash clean.sh")
    assert "cat may" in _commands(trial_of(draft, (MONTH,), {"month": "may"}))[0]
    assert _refused(draft, (MONTH,), {"month": "$(id)"}).code is ErrorCode.VALIDATION_FAILED


def test_a_note_that_no_program_runs_takes_any_text() -> None:
    draft = _draft("echo 'Report for march' > note.txt")
    assert _commands(trial_of(draft, (MONTH,), {"month": "May (draft)!"})) == [
        "echo 'Report for May (draft)!' > note.txt"
    ]


def test_a_value_cannot_end_a_here_document() -> None:
    draft = _draft("cat > a <<EOF\nmarch\ntouch x\nEOF")
    assert _refused(draft, (MONTH,), {"month": "EOF"}).code is ErrorCode.VALIDATION_FAILED


def test_a_value_cannot_become_an_option() -> None:
    assert "option" in _refused(_draft("rm march"), (MONTH,), {"month": "-rf"}).message


def test_missing_and_unknown_names_are_listed() -> None:
    draft = _draft("sort 'march data.csv'")
    assert "input_file" in _refused(draft, (FILE, MONTH), {}).message
    unknown = _refused(draft, (FILE, MONTH), {"input_file": "a", "mnth": "may", "x": "y"})
    assert "mnth, x" in unknown.message
    assert "input_file, month" in unknown.message
    assert [one["path"] for one in unknown.extra["fields"]] == ["values.mnth", "values.x"]  # type: ignore[index, attr-defined]


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        (COUNT, "many", "must be a number"),
        (_parameter("day", "2025-06-12", kind=ParameterType.DATE), "tomorrow", "must be a date"),
        (_parameter("option", "-a", "-b", kind=ParameterType.CHOICE), "-c", "must be one of -a, -b"),
        (MONTH, "a\nb", "one line"),
        (MONTH, "", "cannot be left empty"),
        (_parameter("suffix", "", "x", required=False), "y", "was left out"),
        (MONTH, "ghp_" + "a1B2" * 9, "secret"),
    ],
)
def test_a_value_of_another_kind_is_refused(parameter: SkillParameter, value: str, said: str) -> None:
    assert said in _refused(_draft("cat march 5"), (parameter,), {parameter.name: value}).message


def test_a_value_that_no_command_shows_is_refused() -> None:
    assert "no command shows" in _refused(_draft("cat april"), (MONTH,), {"month": "may"}).message


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("curl https://example.org", "network"),
        ("git push origin main", "network"),
        ("nano a.txt", "waits for a person"),
        ("sudo cp a b", "rights"),
        ("export TOKEN=***", "secret"),
        ("cat 'a", "cannot be read"),
    ],
)
def test_a_step_that_a_sandbox_cannot_carry_out_is_refused(command: str, said: str) -> None:
    refusal = _refused(_draft("true", command), (), {})
    assert refusal.code is ErrorCode.TRIAL_NOT_POSSIBLE
    assert said in refusal.message
    assert refusal.extra["step"] == 2


def test_a_method_without_commands_is_refused() -> None:
    assert _refused(_draft(), (), {}).code is ErrorCode.TRIAL_NOT_POSSIBLE


def test_conditions_speak_of_this_folders_files_and_values() -> None:
    draft = _draft(
        "head -n 5 march.csv > top.txt; cp top.txt march-top.txt",
        conditions=(
            ProofCondition(
                kind=ConditionKind.LINES_OF, path="march-top.txt", other="march.csv", statement="Of march.csv"
            ),
            ProofCondition(kind=ConditionKind.LINE_COUNT, path="top.txt", argument="5", statement="At most"),
            ProofCondition(
                kind=ConditionKind.SORTED,
                path="top.txt",
                argument="by=comma:5 as=text order=ascending header=0",
                statement="Sorted",
            ),
            ProofCondition(
                kind=ConditionKind.HOLDS_TEXT, path="top.txt", argument="march", statement="Holds"
            ),
        ),
    )
    trial = trial_of(draft, (MONTH, COUNT), {"month": "may", "number": "7"})
    assert [(one.path, one.other, one.argument) for one in trial.conditions] == [
        ("may-top.txt", "may.csv", ""),
        ("top.txt", None, "7"),
        ("top.txt", None, "by=comma:5 as=text order=ascending header=0"),
        ("top.txt", None, "may"),
    ]
    assert trial.named >= {"may.csv", "top.txt", "may-top.txt"}


def test_a_script_of_the_bundle_is_placed_where_a_command_expects_it() -> None:
    draft = _draft(
        "nano clean.py", "python3 tools/clean.py march.csv", scripts={"clean.py": "print('march')\n"}
    )
    trial = trial_of(draft, (MONTH,), {"month": "may"})
    assert _commands(trial) == ["python3 tools/clean.py may.csv"]
    assert [(one.path, one.text) for one in trial.scripts] == [("tools/clean.py", "print('may')\n")]


@pytest.mark.parametrize(
    ("command", "placed"),
    [
        ("ed clean.sh <<'END_OF_TYPED_LINES'\na\nsort $1\n.\nw\nEND_OF_TYPED_LINES", False),
        ("cat > clean.sh <<'END'\nsort $1\nEND", False),
        ("echo 'sort $1' > clean.sh", False),
        ("chmod +x clean.sh", True),
        ("echo '# done' >> clean.sh", True),
        ("cat clean.sh > copy.sh", True),
        ("ed other.sh <<'END_OF_TYPED_LINES'\na\nx\n.\nw\nEND_OF_TYPED_LINES", True),
    ],
)
def test_a_script_that_a_command_writes_itself_is_not_placed(command: str, placed: bool) -> None:
    draft = _draft(command, "./clean.sh march.csv", scripts={"clean.sh": "sort $1\n"})
    assert bool(trial_of(draft, (MONTH,), {}).scripts) == placed


def test_a_working_folder_cannot_lead_out() -> None:
    draft = _draft("ls march").changed(
        rehearsal=(RehearsalCommand(event_id=str(uuid4()), command="ls", working_folder="march"),)
    )
    assert trial_of(draft, (MONTH,), {"month": "may"}).commands[0].working_folder == "may"
    assert "leads out" in _refused(draft, (MONTH,), {"month": "../.."}).message


def test_the_parameters_of_an_ability_name_the_value_shown() -> None:
    (shown,) = ability_parameters((FILE,))
    assert (shown.name, shown.shown, shown.required) == ("input_file", "march data.csv", True)


def test_a_value_with_a_space_is_quoted_for_a_dot_command_of_sqlite() -> None:
    draft = _draft("sqlite3 a.db '.mode csv' '.import in/march.csv t'")
    assert "splits" in _refused(draft, (MONTH,), {"month": "bank feb"}).message
    file = _parameter("bank_file", "in/march.csv", kind=ParameterType.PATH)
    assert _commands(trial_of(draft, (file,), {"bank_file": "in/bank feb.csv"})) == [
        "sqlite3 a.db '.mode csv' '.import \"in/bank feb.csv\" t'"
    ]


def test_a_value_with_a_space_is_refused_where_a_shell_reads_it_again() -> None:
    draft = _draft("bash -c 'cat march'")
    assert "several words" in _refused(draft, (MONTH,), {"month": "may june"}).message


def test_a_folder_that_was_entered_takes_another_name() -> None:
    draft = _draft("ls > list").changed(
        rehearsal=(RehearsalCommand(event_id=str(uuid4()), command="ls > list", working_folder="Fotos Köln"),)
    )
    folder = _parameter("photo_folder", "Fotos Köln", required=False)
    (command,) = trial_of(draft, (folder,), {"photo_folder": "Fotos Ulm"}).commands
    assert command.working_folder == "Fotos Ulm"


def test_another_spelling_of_a_given_month_follows_it_and_two_months_are_refused() -> None:
    whole = _parameter("month", "2026-10", kind=ParameterType.DATE)
    spelled = _parameter("month_2", "Oct 2026")
    draft = _draft("echo 'Report for Oct 2026' > report-2026-10.md")

    assert _commands(trial_of(draft, (whole, spelled), {"month": "2027-03"})) == [
        "echo 'Report for Mar 2027' > report-2027-03.md"
    ]
    refusal = _refused(draft, (whole, spelled), {"month": "2027-03", "month_2": "Oct 2026"})
    assert refusal.message.startswith("month, month_2 are one month")
