"""What a model may suggest in practice: commands of the list that do the work, inside their folder."""

import json
from typing import Any

import pytest

from contracts.practice.practice import PracticePlans, StartPracticeRequest
from domain.practice.plans import plans_within

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
ALLOWED = ("sort", "cut", "tar", "echo", "awk", "sed", "grep", "split", "curl", "rm")
GOAL = "Sort the sales and put 'done by hand' below"
RESULT = "south,9\neast,5"


def within(*plans: tuple[str, ...], **fields: Any) -> tuple[list[tuple[str, ...]], str]:
    """The plans that are kept, and what is said of the others."""
    request = StartPracticeRequest.model_validate(
        {
            "goal": GOAL,
            "success_conditions": [{"kind": "file_contains", "path": "top.csv", "text": RESULT}],
            "allowed_commands": ALLOWED,
            **fields,
        }
    )
    answer = PracticePlans.model_validate_json(json.dumps({"plans": [{"commands": p} for p in plans]}))
    kept, problem = plans_within(answer, request)
    return [plan.commands for plan in kept], problem


@pytest.mark.parametrize(
    "command",
    [
        "sort -t, -k2 -nr sales.csv > top.csv",
        "sort sales.csv | cut -d, -f1 > names.txt",
        "awk -F, '{ print $2 \",\" $1 }' sales.csv > top.csv",
        "grep 'south' sales.csv > top.csv",
        "LC_ALL=C sort sales.csv > top.csv",
        "echo 'done by hand' >> top.csv",
        "sort sales.csv 2> /dev/null > top.csv",
        "grep 'south,9' sales.csv > top.csv",
        "awk '$2 > 3 || /north/ { print }' sales.csv > top.csv",
        "sed -e 's/,/;/g' -e '/west/d' sales.csv > top.csv",
        "sed -n '2p' sales.csv > top.csv",
        "tar czf sales.tgz sales.csv",
    ],
)
def test_commands_of_the_list_that_work_on_the_files_are_kept(command: str) -> None:
    assert within((command,)) == ([(command,)], "")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("uniq sales.csv > top.csv", "is not on the list"),
        ("sort sales.csv > top.csv; python3 x.py", "is not on the list"),
        ("sort $(uniq sales.csv) > top.csv", "is not on the list"),
        ("./sort sales.csv > top.csv", "is not on the list"),
        ("sort 'sales.csv > top.csv", "is not on the list"),
        ("sort sales.csv > top.csv\nsort top.csv", "more than one line"),
        ("sort \x1b[2J sales.csv", "more than one line"),
        (f"echo {SECRET} > top.csv", "holds a secret"),
        ("echo password=[MASKED] > top.csv", "holds a secret"),
        ("rm -rf .", "destroys something"),
        ("curl -o top.csv https://example.org", "reaches out over a network"),
        ("sort sales.csv > /etc/passwd", "destroys something"),
        ("sort /etc/passwd > top.csv", "outside the practice folder"),
        ("sort ~/.ssh/id_rsa > top.csv", "outside the practice folder"),
        ("sort --files0-from=../list > top.csv", "outside the practice folder"),
        ('sort "$SOME_FILE" > top.csv', "a value that cannot be seen"),
        ("sort --compress-program=awk sales.csv > top.csv", "start another program"),
        ("tar --checkpoint-action=exec=x cf a.tar sales.csv", "start another program"),
        ("split --filter=sort sales.csv", "start another program"),
        ("PATH=. sort sales.csv > top.csv", "start another program"),
        ("tar -I gzip -cf a.tgz sales.csv", "start another program"),
        ("awk 'BEGIN { system(\"id > top.csv\") }'", "start another program"),
        ("awk 'BEGIN { \"id\" | getline x; print x }' > top.csv", "start another program"),
        ("awk '{ print | \"sh\" }' sales.csv", "start another program"),
        ("sed 1e sales.csv", "start another program"),
        ("sed 's/a/id/e' sales.csv", "start another program"),
        ("sed -n 'w other.csv' sales.csv", "start another program"),
        ("echo 'south,9' > top.csv", "writes down the result"),
        ("sort <<< 'south,9' > top.csv", "writes down the result"),
        ("grep 'south' sales.csv > a.csv; echo 'south,9' > top.csv", "writes down the result"),
        ("awk 'BEGIN { print \"south,9\\neast,5\" }' > top.csv", "writes down the result"),
    ],
)
def test_a_plan_out_of_bounds_is_dropped_and_the_reason_repeats_none_of_it(
    command: str, problem: str
) -> None:
    kept, said = within(("sort sales.csv > a.csv", command))
    assert kept == []
    assert problem in said
    assert said.startswith("command 2 of plan 1 ")
    assert SECRET not in said


def test_one_bad_plan_does_not_spoil_the_others_and_a_repeated_one_counts_once() -> None:
    good = ("sort sales.csv > top.csv",)
    assert within(("rm top.csv", "python3 x.py"), good, good) == (
        [good],
        "command 2 of plan 1 is not on the list of allowed commands",
    )


def test_a_short_or_spoken_of_result_may_be_written() -> None:
    short = [{"kind": "file_contains", "path": "n.txt", "text": "7"}]
    assert within(("echo 7 > n.txt",), success_conditions=short)[1] == ""


def test_a_wanted_text_that_is_in_a_name_or_in_the_list_is_no_written_down_result() -> None:
    wanted = [{"kind": "file_contains", "path": "top.csv", "text": "sales"}]
    plan = ("sort -r sales.csv > top.csv",)
    start = [{"name": "sales.csv", "content": "sales,9\n"}]
    fields = {"success_conditions": wanted, "start_files": start, "goal": "Sort it"}
    assert within(plan, **fields) == ([plan], "")
    assert "writes down" in within(("echo sales > top.csv",), **fields)[1]
    listed = ("echo 'total sales' > {output}",)
    total = [{"kind": "file_contains", "path": "top.csv", "text": "total sales"}]
    said = ("echo 'total sales' > top.csv",)
    assert within(said, success_conditions=total, allowed_commands=listed) == ([said], "")
