"""``apprentice learn recent-runs`` and ``learn create --from-run`` against a whole running service."""

from cli.platform.output import ExitCode


def test_a_dropped_demonstration_is_listed_and_learned_from(person, taught) -> None:
    taught("pear")
    person.types("learn", "cancel")
    (run,) = person.gets("learn", "recent-runs")["runs"]
    shown = person.types("learn", "recent-runs").stdout
    assert run["trace_id"] in shown
    assert "1 of 1" in shown

    created = person.types("learn", "create", "--from-run", run["trace_id"])
    assert created.exit_code == ExitCode.OK, created.stderr
    session = person.gets("learn", "status")
    assert session["state"] == "reviewing"
    assert session["active_trace_ids"] == [run["trace_id"]]
    assert person.gets("learn", "recent-runs")["runs"] == []
    person.types("learn", "cancel")


def test_the_diff_of_an_improvement_says_what_it_improves(person, taught) -> None:
    taught("quince")
    person.types("learn", "propose")
    assert person.types("learn", "validate").exit_code == ExitCode.OK
    assert person.types("learn", "approve").exit_code == ExitCode.OK
    ability_id = person.gets("learn", "history")["items"][0]["ability_id"]
    mode = ("--mode", "improving_existing_skill", "--skill", ability_id)
    person.types("learn", "create", *mode)
    assert person.types("learn", "start").exit_code == ExitCode.OK
    person.types("learn", "stop")
    person.types("learn", "propose")
    shown = person.types("learn", "diff").stdout

    assert "Nothing differs from the installed version." in shown
    assert "Improves version 1 of" in shown
    person.types("learn", "cancel")
