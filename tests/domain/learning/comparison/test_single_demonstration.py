"""Parameters from one demonstration: what its form or the goal shows to be a choice of the day."""

from datetime import UTC, datetime

import pytest

from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import ParameterType
from contracts.learning.observation import LessonFolder
from domain.learning.comparison.parameters import ParameterWording
from domain.learning.comparison.single_demonstration import folders_used, shown_parameters


def shown(
    goal: str, *commands: str, inputs: tuple[str, ...] = (), folders: tuple[str, ...] = ()
) -> dict[str, str]:
    found = shown_parameters(goal, [(command, ".") for command in commands], inputs, folders)
    return {parameter.name: parameter.examples[0] for parameter in found}


@pytest.mark.parametrize(
    ("goal", "command", "inputs", "expected"),
    [
        ("Sort the sales", "sort -t, -k2 sales.csv > top.csv", ("sales.csv",), {"sales_file": "sales.csv"}),
        ("Clean", "python3 c.py 'members 2024.csv' o", ("members 2024.csv",), {"members_file": "members 2024.csv"}),
        ("Report", "REGION=north ./report.sh", ("report.sh",), {"region": "north"}),
        ("Report", "export YEAR=2025", (), {"year": "2025"}),
        ("List the five most frequent errors", "sort a | head -n 5 > b", ("a",), {"input_file": "a", "count": "5"}),
        ("Shrink", "python3 shrink.py --width 24 in.ppm", ("shrink.py",), {"width": "24"}),
        ("Tag it", "git tag -a v1.4.0 -m 'Release 1.4.0'", (), {"version": "1.4.0"}),
        ("Find it", "git bisect start HEAD v1.0", (), {"version": "1.0"}),
        ("Go back", "git checkout v1.4.0", (), {"version": "1.4.0"}),
        ("Due dates", "date -d '2025-03-01 +30 days' +%F", (), {"date": "2025-03-01"}),
        ("Manifest", "echo 'Deliveries of March 2025' > M", (), {"month": "March 2025"}),
        ("Rename the room Linden to Maple", r"sed -i 's/\bLinden\b/Maple/g' a.txt", ("a.txt",), {"room": "Linden"}),
    ],
)  # fmt: skip
def test_values_of_the_day_are_parameters(
    goal: str, command: str, inputs: tuple[str, ...], expected: dict[str, str]
) -> None:
    found = shown(goal, command, inputs=inputs)
    assert expected.items() <= found.items()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Kundenübersicht März.csv", "kundenuebersicht_maerz_file"),
        ("Kundenu\u0308bersicht.csv", "kundenuebersicht_file"),
        ("straße/Größen.csv", "groessen_file"),
        ("Café crème.txt", "cafe_creme_file"),
        ("smørrebrød.csv", "smoerrebroed_file"),
        ("週報.csv", "input_file"),
    ],
)
def test_a_file_of_any_name_gives_a_parameter_a_name_in_ascii(path: str, name: str) -> None:
    assert shown("Sort it", f"sort '{path}' > top", inputs=(path,)) == {name: path}


def test_a_word_of_the_goal_with_umlauts_names_the_value_behind_it() -> None:
    assert shown("Liste für Größe Medium", "grep Medium lager > out") == {"groesse": "Medium"}


def test_a_folder_that_is_read_is_a_parameter() -> None:
    assert shown("Back up", "tar -czf backup.tgz records", folders=("records",)) == {"folder": "records"}


def test_a_script_that_is_run_is_no_parameter() -> None:
    assert shown("Run it", "python3 total.py", "./check.sh", inputs=("total.py", "check.sh")) == {}


@pytest.mark.parametrize("name", [".gitignore", "web/package.json", "pyproject.toml", "Dockerfile", "go.mod"])
def test_a_file_whose_name_a_tool_prescribes_is_no_parameter(name: str) -> None:
    assert shown("Add a line", f"echo x >> {name}", f"git add {name}", inputs=(name,)) == {}


@pytest.mark.parametrize("name", ["ignore.txt", "package.csv", "cargo-2025.toml"])
def test_a_file_of_another_name_is_a_parameter(name: str) -> None:
    assert name in shown("Sort it", f"sort {name} > sorted", inputs=(name,)).values()


def test_what_lies_only_inside_a_longer_value_is_left_to_that_one() -> None:
    found = shown(
        "Read it", "cut -d, -f1 data/2025-03.csv > a", inputs=("data/2025-03.csv",), folders=("data",)
    )
    assert list(found.values()) == ["data/2025-03.csv"]


def test_a_secret_is_never_a_parameter() -> None:
    assert shown("Call it", "API_TOKEN=ghp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3 ./call.sh") == {}


def test_names_are_distinct_and_no_parameter_is_required() -> None:
    found = shown_parameters(
        "Compare", [("diff -rq release-1.2 release-1.3", ".")], (), ("release-1.2", "release-1.3")
    )
    assert [parameter.name for parameter in found] == ["folder", "folder_2"]
    assert {parameter.type for parameter in found} == {ParameterType.PATH}
    assert not any(parameter.required for parameter in found)


@pytest.mark.parametrize(
    ("goal", "command", "value"),
    [
        ("List the orders that are paid", "jq '.[] | select(.status == \"paid\")' orders.json > list", "paid"),
        ("Merge the new prices", "git merge new-prices", "new-prices"),
        ("Number the pages lease-001.tif and so on", "mv a $(printf 'lease-%03d.tif' 1)", "lease"),
        ("Due dates thirty days later", "date -d \"$day +30 days\" +%F", "30"),
    ],
)  # fmt: skip
def test_a_literal_that_the_goal_speaks_of_is_a_parameter(goal: str, command: str, value: str) -> None:
    assert value in shown(goal, command).values()


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Give the photos the name of the trip instead of DSC", "value"),
        ("Copy all but the region North", "region"),
        ("List everything except Linz", "value"),
        ("Count the orders of the town Linz", "town"),
    ],
)
def test_a_word_of_the_goal_is_called_after_what_it_is_said_to_be(goal: str, name: str) -> None:
    word = goal.split()[-1]
    assert shown(goal, f"grep {word} in.csv > out.csv") == {name: word}


def test_the_name_of_a_script_that_the_lesson_wrote_is_no_parameter() -> None:
    line = "./overdue.sh loans.csv > overdue.txt"
    assert shown("List the loans that are overdue", line, inputs=("loans.csv",)) == {
        "loans_file": "loans.csv"
    }
    assert shown("Compile the table", "gcc -o table.o table.c && ls table.h") == {"table": "table"}


def test_a_folder_in_front_of_a_pattern_is_a_parameter() -> None:
    found = shown("Tidy up", "for photo in inbox/IMG_*.jpg; do mv $photo done/; done", folders=("inbox",))
    assert found == {"folder": "inbox"}


@pytest.mark.parametrize(
    ("commands", "inputs", "expected"),
    [
        ((("mogrify *.jpg", "shots"),), ("shots/a.jpg",), {"folder": "shots"}),
        ((("mkdir up", "shots"), ("cp *.txt up/", "shots")), ("shots/a.txt",), {"folder": "shots"}),
        ((("cat *.csv > all", "data/2025"),), ("data/2025/a.csv",), {"folder": "data/2025"}),
        ((("cat *.csv > all", "Fotos Köln"),), ("Fotos Köln/a.csv",), {"folder": "Fotos Köln"}),
        ((("wc *", "data"), ("wc *", "data/2025")), ("data/a", "data/2025/b"), {"folder": "data"}),
        ((("wc *", "jan"), ("wc *", "feb")), ("jan/a", "feb/b"), {"folder": "feb", "folder_2": "jan"}),
        ((("python3 total.py", "shots"),), ("shots/a.csv", "shots/total.py"), {"folder": "shots"}),
        ((("wc *", "in"), ("sort in/a", ".")), ("in/a",), {"folder": "in", "input_file": "in/a"}),
        ((("make report", "build"),), ("src/a.c",), {}),
        ((("sort *.txt > all", "."),), ("a.txt",), {}),
        ((("cat *.csv > all", "made"),), ("a.csv",), {}),
    ],
)  # fmt: skip
def test_a_folder_that_was_entered_and_held_inputs_is_a_parameter(
    commands: tuple[tuple[str, str], ...], inputs: tuple[str, ...], expected: dict[str, str]
) -> None:
    folders = {"/".join(path.split("/")[:n]) for path in inputs for n in range(1, path.count("/") + 1)}
    found = shown_parameters("Do the work", commands, inputs, {*folders, "build"})
    assert {one.name: one.examples[0] for one in found} == expected


def test_the_folders_of_a_lesson_in_several_ones_are_no_parameters() -> None:
    evidence = LessonEvidence(
        state_id="00000000-0000-4000-8000-000000000001",
        reproduced=True,
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        folders=("photos", "photos/raw", "site"),
    )
    lesson = (
        LessonFolder(name="photos", places=("~/photos",)),
        LessonFolder(name="site", places=("~/site",)),
    )
    assert folders_used(evidence) == ("photos", "photos/raw", "site")
    assert folders_used(evidence, lesson) == ("photos/raw",)


@pytest.mark.parametrize(
    "command", ["find . -type f", "cp ../usb/a .", "PYTHONPATH=. SEP=, ./count", "cd ~; ls /"]
)
def test_a_sign_alone_is_no_parameter(command: str) -> None:
    found = shown_parameters("Copy what the stick lacks", [(command, "laptop")], (), ("laptop", "usb"))
    assert found == ()


def test_the_letter_of_an_option_is_not_the_word_of_the_goal() -> None:
    (plan,) = shown_parameters("Give plan B to all", [("grep -B 2 x all.txt > plan-B.txt", ".")], (), ())
    assert ParameterWording([plan]).formal("grep -B 2 x all.txt > plan-B.txt") == (
        "grep -B 2 x all.txt > plan-{plan}.txt"
    )


def test_a_version_is_replaced_behind_a_v_too() -> None:
    (version,) = shown_parameters("Release 1.4.0", [("git tag -a v1.4.0", ".")], (), ())
    assert ParameterWording([version]).formal("git tag -a v1.4.0 -m 'Release 1.4.0'") == (
        "git tag -a v{version} -m 'Release {version}'"
    )


def test_a_setting_of_any_line_is_a_parameter_unless_a_command_made_what_it_names() -> None:
    lines = ("ls", "export MONTH=11", "python3 list.py a.csv", "LIMIT=5", "sort a > b.csv", "LIST=b.csv")
    found = shown("Who has a birthday", *lines)
    assert found == {"month": "11", "limit": "5"}


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (("NEW=2.1", "ln -sfn versions/$NEW current"), ParameterType.TEXT),
        (("VERSION=2.1", "echo $VERSION"), ParameterType.TEXT),
        (("RATE=2.1", "echo $RATE"), ParameterType.NUMBER),
    ],
)
def test_a_number_that_names_a_release_is_a_text(lines: tuple[str, ...], kind: ParameterType) -> None:
    (found,) = shown_parameters("Switch", [(line, ".") for line in lines], (), ())
    assert found.type is kind


def test_a_name_for_the_time_of_the_work_is_no_shared_stem() -> None:
    assert shown("Add the changes", "sort CHANGES.md > CHANGES.new", "mv CHANGES.new CHANGES.md") == {}


def test_the_first_line_and_where_lines_are_split_are_the_form_of_the_work() -> None:
    assert shown("Add a head", "{ head -2 a; echo x; tail -n +3 a; } > b", "sort b | tail -n 1 > c") == {}


def test_a_variable_that_counts_is_no_setting() -> None:
    assert shown("Number them", "n=1", 'for f in *.tif; do mv "$f" "p-$n.tif"; n=$((n + 1)); done') == {}


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        ("awk '{total+=$2} END{print total}' a > b", False),
        ("sqlite3 a.db 'select Total from t' > b", False),
        ("sqlite3 a.db \"select x from t where y = 'Total'\" > b", True),
        ("awk '{Total+=$2} END{print Total}' a > Total.txt", True),
    ],
)
def test_a_word_of_the_goal_that_is_only_a_name_in_a_program_is_no_parameter(
    command: str, is_one: bool
) -> None:
    assert bool(shown("Write the Total of it", command)) is is_one


@pytest.mark.parametrize(
    ("goal", "command", "expected"),
    [
        (
            "The room Linden is now called Maple: change it in all texts",
            r"sed -i 's/\bLinden\b/Maple/g' *.txt",
            {"room": "Linden", "new_room": "Maple"},
        ),
        (
            "Rename the product Foo to Bar",
            "sed -i 's|Foo|Bar|' *.md",
            {"product": "Foo", "new_product": "Bar"},
        ),
        (
            "Replace Foo by Bar in all pages",
            "sed -i 's/Foo/Bar/g' *.html",
            {"old_text": "Foo", "new_text": "Bar"},
        ),
        (
            "In all letters change Meier to Meyer",
            "perl -pi -e 's/Meier/Meyer/' *.txt",
            {"old_text": "Meier", "new_text": "Meyer"},
        ),
        (
            "Put port 9090 in place of 8080",
            "sed -i s/8080/9090/ a.conf",
            {"port": "8080", "new_port": "9090"},
        ),
        (
            "Change 8080 to 9090",
            "sed -i s/8080/9090/ a.conf",
            {"old_value": "8080", "new_value": "9090"},
        ),
        (
            "Move the supplier Abel to Bertram in the database",
            "sqlite3 a.db \"update t set who='Bertram' where who='Abel'\"",
            {"supplier": "Abel", "new_supplier": "Bertram"},
        ),
        (
            "Rename the branch trunk to main",
            "git branch -m trunk main",
            {"branch": "trunk", "new_branch": "main"},
        ),
        (
            "Count the orders of the towns Linz and Graz",
            "grep -e Linz -e Graz in.csv > out.csv",
            {"towns": "Linz", "towns_2": "Graz"},
        ),
        (
            "Call the folder Alpha from now on Beta",
            "for f in *Alpha*; do mv $f ${f/Alpha/Beta}; done",
            {"folder": "Alpha", "new_folder": "Beta"},
        ),
        (
            "Count Linz and list Graz",
            "grep -e Linz -e Graz in.csv > out",
            {"value": "Linz", "value_2": "Graz"},
        ),
    ],
)
def test_a_value_that_takes_anothers_place_is_the_new_one_and_none_is_named_by_another(
    goal: str, command: str, expected: dict[str, str]
) -> None:
    assert shown(goal, command) == expected


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (("old/guests.csv", "new/guests.csv"), ("old_guests_file", "new_guests_file")),
        (("guests.csv", "archive/guests.csv"), ("guests_file", "archive_guests_file")),
        (("guests.csv", "guests.txt"), ("guests_csv_file", "guests_txt_file")),
        (("usb/in/list.csv", "laptop/in/list.csv"), ("usb_list_file", "laptop_list_file")),
        (("2024/list.csv", "2025/list.csv"), ("list_file", "list_file_2")),
        (("list-1.csv", "list-2.csv"), ("list_file", "list_file_2")),
        (("a.csv", "b.csv"), ("input_file", "input_file_2")),
        (
            ("Nord/list.csv", "Süd/list.csv", "Ost/list.csv"),
            ("nord_list_file", "sued_list_file", "ost_list_file"),
        ),
    ],
)
def test_files_of_one_name_are_told_apart_by_their_folder_or_ending(
    paths: tuple[str, ...], names: tuple[str, ...]
) -> None:
    found = shown("Compare", f"./compare {' '.join(paths)} > out", inputs=paths)
    assert found == dict(zip(names, paths, strict=True))


def test_a_usual_name_stays_where_only_a_command_holds_it_in_capitals() -> None:
    found = shown("Set the version", "echo 1.4.0 > VERSION; git tag v1.4.0 -m VERSION")
    assert found["version"] == "1.4.0"
