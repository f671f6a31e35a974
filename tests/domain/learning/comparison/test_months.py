"""A month with its year is one value: it is found whole, and parameters of one month cannot contradict each other."""

from datetime import UTC, datetime

import pytest

from contracts.learning.interpretation import ParameterType, SkillParameter
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from domain.learning.comparison.comparison import compare
from domain.learning.comparison.months import (
    ContradictingMonths,
    Month,
    SameMonth,
    month_of,
    months_in,
    spelled_like,
)
from domain.learning.comparison.parameters import parameters_of
from domain.learning.comparison.single_demonstration import shown_parameters

OCTOBER = (
    "2026-10",
    "2026_10",
    "2026/10",
    "10-2026",
    "10/2026",
    "Oct 2026",
    "Oct. 2026",
    "October 2026",
    "october, 2026",
    "Oct-2026",
    "oct_2026",
    "OCT2026",
    "october-2026",
    "2026-Oct",
    "2026/October",
)


@pytest.mark.parametrize("spelling", OCTOBER)
def test_a_month_is_read_and_another_one_is_spelled_alike(spelling: str) -> None:
    assert month_of(spelling) == Month(2026, 10)
    assert month_of(spelled_like(Month(2027, 3), spelling)) == Month(2027, 3)
    assert spelled_like(Month(2026, 10), spelled_like(Month(2027, 3), spelling)) == spelling


@pytest.mark.parametrize(
    ("month", "shown", "expected"),
    [
        ("2027-03", "2026-10", "2027-03"),
        ("2027-03", "Oct 2026", "Mar 2027"),
        ("2027-09", "october_2026", "september_2027"),
        ("2027-05", "OCT2026", "MAY2027"),
        ("2027-06", "Oct. 2026", "Jun. 2027"),
        ("2027-03", "2026/October", "2027/March"),
    ],
)
def test_the_spelling_keeps_order_case_length_and_marks(month: str, shown: str, expected: str) -> None:
    known = month_of(month)
    assert known is not None
    assert spelled_like(known, shown) == expected


@pytest.mark.parametrize(
    "command",
    [
        "cp a report-{}.md",
        "mkdir {}",
        "mv a {}/a",
        "echo 'Report for {}' > r.md",
        "grep '^{}' a.csv > b",
        "python r.py --month={}",
        "cp a sales_{}.csv",
    ],
)
@pytest.mark.parametrize("spelling", [one for one in OCTOBER if " " not in one])
def test_a_month_in_a_command_or_a_name_is_one_parameter(spelling: str, command: str) -> None:
    found = shown_parameters("Make it", [(command.format(spelling), ".")], (), ())

    assert [(p.name, p.examples[0]) for p in found] == [("month", spelling)]


@pytest.mark.parametrize(
    "line",
    [
        "cp a 2026-10-05.csv",
        "mkdir -p 2026/10/05",
        "echo 05.10.2026 > d",
        "cp app-1.2026.10 b",
        "pip install black==24.10",
        "head -n 201011 a > b",
        "curl -o a https://example.com/0142010-2026x",
    ],
)
def test_a_whole_date_a_version_and_a_long_number_hold_no_month(line: str) -> None:
    assert [*months_in(line)] == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("cp a report-2026-10.md", "cp a report-2027-03.md"),
        ("echo 'Oct 2026' > x", "echo 'Mar 2027' > x"),
        ("mkdir sales_2026_10", "mkdir sales_2027_03"),
        ("mkdir oct-2026", "mkdir mar-2027"),
        ("cp a 10-2026.md", "cp a 03-2027.md"),
    ],
)
def test_a_month_that_differs_between_demonstrations_is_one_parameter_of_that_name(
    first: str, second: str
) -> None:
    (found,) = parameters_of(compare([shown(first), shown(second)]))

    assert found.name == "month"
    assert [month_of(one) for one in found.examples] == [Month(2026, 10), Month(2027, 3)]


def shown(line: str) -> list[ObservedActionEvent]:
    return [
        ObservedActionEvent(
            event_id="01890000-0000-7000-8000-000000000001",
            learn_session_id="01890000-0000-7000-8000-000000000002",
            adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
            action_label=line,
            terminal=TerminalObservation(command=line, exit_class=ExitClass.OK, working_folder="."),
            created_at=datetime(2026, 5, 1, tzinfo=UTC),
        )
    ]


def parameter(name: str, value: str) -> SkillParameter:
    kind = ParameterType.NUMBER if value.isdigit() else ParameterType.TEXT
    return SkillParameter(name=name, type=kind, description=name, examples=(value,))


def test_the_other_parameters_of_a_month_follow_the_one_that_is_given() -> None:
    same = SameMonth(
        [
            parameter("month", "2026-10"),
            parameter("month_2", "Oct 2026"),
            parameter("year", "2026"),
            parameter("month_number", "10"),
            parameter("count", "10"),
        ]
    )
    assert same.groups == (("month", "month_2", "year", "month_number"),)
    assert same.completed({"month": "2027-03"}) == {
        "month": "2027-03",
        "month_2": "Mar 2027",
        "year": "2027",
        "month_number": "03",
    }
    assert same.completed({"year": "2027"})["month_2"] == "Oct 2027"
    assert same.completed({"month_2": "January 2027", "count": "3"})["month"] == "2027-01"
    assert same.completed({"count": "3"}) == {"count": "3"}
    assert same.completed({"month": "2026-10"}) == {"month": "2026-10"}


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"month": "2026-11", "month_2": "Oct 2026"}, ("month", "month_2")),
        ({"month": "2026-11", "year": "2027"}, ("month", "year")),
        ({"month_2": "Dec 2026", "month_number": "11"}, ("month_2", "month_number")),
    ],
)
def test_values_of_different_months_contradict(values: dict[str, str], names: tuple[str, ...]) -> None:
    same = SameMonth(
        [
            parameter("month", "2026-10"),
            parameter("month_2", "Oct 2026"),
            parameter("year", "2026"),
            parameter("month_number", "10"),
        ]
    )
    with pytest.raises(ContradictingMonths) as contradiction:
        same.completed(values)

    assert contradiction.value.names == names


def test_a_month_and_a_year_apart_are_on_their_own_where_nothing_has_both() -> None:
    same = SameMonth([parameter("month", "10"), parameter("year", "2026")])

    assert same.groups == ()
    assert same.completed({"month": "11", "year": "2027"}) == {"month": "11", "year": "2027"}


def test_the_description_says_which_parameters_are_one_month() -> None:
    lines = ["python r.py --month 10 --year 2026 > report-2026-10.md", "echo 'Oct 2026' >> report-2026-10.md"]
    found = {p.name: p for p in shown_parameters("Make it", [(line, ".") for line in lines], (), ())}

    assert {p.examples[0] for p in found.values()} == {"2026", "10", "2026-10", "Oct 2026"}
    said = [p.description for p in found.values() if "one month with" in p.description]
    assert len(said) == 4


def test_options_that_are_one_date_between_them_say_so() -> None:
    line = "python r.py --month 10 --year 2026 --from-day 3 --from-month 9 --limit 12"
    found = {p.name: p.description for p in shown_parameters("Report October 2026", [(line, ".")], (), ())}

    assert found["month"].endswith("; a part of one date with year")
    assert found["year"].endswith("; a part of one date with month")
    assert found["from_day"].endswith("; a part of one date with from_month")
    assert "one date" not in found["limit"]
