"""A value is replaced where it is what the parameter is about, in texts as in a trial."""

import re

import pytest

from contracts.learning.interpretation import ParameterType, SkillParameter
from domain.learning.comparison.parameter_places import ParameterPlaces
from domain.learning.drafting.method import facts_in_words

BEST = (
    "tail -n +2 punkte.csv | sort -t, -k3,3nr | head -n 3 | cut -d, -f1,3 > beste.csv",
    "awk -F, 'NR>1 && $3>50 {s+=$3; n+=1} END {print n, s/3}' punkte.csv > schnitt.txt",
)


def number(name: str, value: str) -> SkillParameter:
    return SkillParameter(
        name=name, type=ParameterType.NUMBER, description=name, examples=(value,), required=False
    )


@pytest.mark.parametrize(
    ("value", "commands", "said"),
    [
        ("3", BEST, (BEST[0].replace("head -n 3", "head -n {n}"), BEST[1])),
        (
            "1",
            ("awk 'NR==1 || $1>=m' a > b", "sort -t';' -k1,1n b | tail -n 1 > c"),
            ("awk 'NR==1 || $1>=m' a > b", "sort -t';' -k1,1n b | tail -n {n} > c"),
        ),
        ("2", ("awk '$2==\"ERR\"' a | head -2",), ("awk '$2==\"ERR\"' a | head -{n}",)),
        ("2", ("join -1 2 -2 1 a b | split -l 2",), ("join -1 2 -2 1 a b | split -l {n}",)),
        ("2", ("cut -f 2 a | uniq -f 2 | sort > top-2",), ("cut -f 2 a | uniq -f 2 | sort > top-{n}",)),
        ("5", ("MIN=5", "awk -v m=$MIN '$5>=m {print $5, 5}' a"), ("MIN={n}", "awk -v m=$MIN '$5>=m {print $5, 5}' a")),
        ("7", ("awk '$7>=7' a | sort -k7",), ("awk '$7>={n}' a | sort -k7",)),
        ("4", ("grep -E '^[0-4]{4}' a | sed 's/4$/x/'",), ("grep -E '^[0-4]{4}' a | sed 's/{n}$/x/'",)),
        ("2", ("cut -f2 a",), ("cut -f{n} a",)),
        ("5", ("n=$(head -n 5 a | awk '{print $5}')",), ("n=$(head -n {n} a | awk '{print $5}')",)),
        ("30", ("date -d \"$day +30 days\"", "chmod 30 a"), ("date -d \"$day +{n} days\"", "chmod 30 a")),
    ],
)  # fmt: skip
def test_a_short_number_is_replaced_only_where_it_is_what_it_was_found_as(
    value: str, commands: tuple[str, ...], said: tuple[str, ...]
) -> None:
    places = ParameterPlaces(commands, [number("n", value)])

    assert tuple(map(places.formal, commands)) == said


def test_the_words_about_a_command_speak_of_the_same_places() -> None:
    places = ParameterPlaces(BEST, [number("count", "3")])
    first, second = (places.facts(command, facts_in_words)[0] for command in BEST)

    assert "sorted by field 3 only" in first
    assert "only the first {count} lines" in first
    assert "only fields 1 and 3" in first
    assert "{count}" not in second


def test_a_variable_is_no_value_even_where_it_is_called_like_one() -> None:
    word = SkillParameter(
        name="status", type=ParameterType.TEXT, description="s", examples=("issued",), required=False
    )
    command = 'echo "issued: $issued, ${issued}"'

    assert ParameterPlaces([command], [word]).facts(command, facts_in_words) == [
        "echo: the text '{status}: $issued, ${issued}'"
    ]


def text(value: str, kind: ParameterType = ParameterType.TEXT) -> SkillParameter:
    return SkillParameter(name="p", type=kind, description="p", examples=(value,), required=False)


NAMES = (
    "awk -F, '{total+=$2} END{print \"«total»\", total}' a > «total».txt",
    "awk -v north=«north» '$1==north && /«north»/' a",
    "awk '{region[$1]++} END{for(r in region) print r/region[r]}' «region».csv",
    "sqlite3 a.db \"select status, count(*) from t where kind='«status»'\"",
    "sqlite3 a.db <<'E'\n.import in/«sales».csv sales\nselect sum(x) from sales where note like '%«sales»%';\nE",
    "duckdb -c 'select depot, \"depot.csv\" from depot' > «depot».txt",
    "sqlite3 a.db \"select a from b where c = '«Linz»'\" > «Linz».csv",
    "sqlite3 a.db 'select a from b where c = \"«Linz»\"'",
    "sed ':again;s/«again»/x/;t again' a",
    "sed -e ':loop' -e 'N;$!bloop' -e 's/«loop»/x/' «loop».txt",
    "jq '.[] | select(.paid == \"«paid»\")' «paid».json",
    "jq --arg north «north» '.[] | select(.area == $north)' a.json",
    "python3 -c 'amount = \"«amount»\"; print(amount)' «amount».csv",
    "cat > sum.awk <<'E'\n{ hours += $3 }\nEND { print \"«hours»\", hours }\nE",
    "cat > note.txt <<'E'\nthe «hours» of May\nE",
    r"sed -i 's/\b«Linden»\b/Maple/g' «Linden».txt",
    "grep «paid» a | awk '/«paid»/ {print}' | sort > «paid».txt",
)
"""Commands with marks around the places that are the value; elsewhere the word is a name."""


def marked(line: str) -> tuple[SkillParameter, str, str]:
    """The parameter, the command, and the command with its placeholder."""
    value = re.findall("«(.*?)»", line)[0]
    return text(value), re.sub("[«»]", "", line), re.sub("«.*?»", "{p}", line)


@pytest.mark.parametrize("line", NAMES)
def test_a_value_that_is_a_name_in_a_program_stays_there(line: str) -> None:
    parameter, command, said = marked(line)
    places = ParameterPlaces([command], [parameter])

    assert places.formal(command) == said
    assert places.facts(command, lambda one: [one]) == [said]


def test_a_script_keeps_its_names() -> None:
    places = ParameterPlaces(["sort total"], [text("total")])
    script = '{ total += $1 } END { print "total", total }'

    assert [match.start() for match in places.in_script(script, "sum.awk")] == [script.index('"total') + 1]
