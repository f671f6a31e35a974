import json
from dataclasses import dataclass

import pytest
import typer
from pydantic import BaseModel

from cli.platform.output import ExitCode, fail, warn, write_json, write_line, write_table


class Model(BaseModel):
    name: str


@dataclass
class Record:
    count: int


def test_models_and_dataclasses_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"model": Model(name="é"), "record": Record(count=1)})
    assert json.loads(capsys.readouterr().out) == {"model": {"name": "é"}, "record": {"count": 1}}


def test_a_table_keeps_what_looks_like_markup_and_shows_missing_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_table(("name", "value"), [("[bold]a[/bold] :smile:", None)])
    assert capsys.readouterr().out.splitlines()[1].split() == ["[bold]a[/bold]", ":smile:", "–"]


def test_a_long_line_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    write_line("x" * 500)
    assert capsys.readouterr().out == "x" * 500 + "\n"


def test_failing_names_the_reason_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        fail("the service is [not] reachable", ExitCode.NOT_READY)
    assert ended.value.exit_code == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "Error: the service is [not] reachable\n"


def test_warnings_do_not_mix_with_results(capsys: pytest.CaptureFixture[str]) -> None:
    warn("careful")
    assert capsys.readouterr() == ("", "careful\n")
