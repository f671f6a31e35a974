"""``apprentice learn`` against a whole running service: a person teaches an ability from the command line."""

import json

import pytest

from cli.platform.output import ExitCode


@pytest.mark.everyday
def test_a_session_goes_from_its_creation_to_an_approved_ability(person, taught) -> None:
    session_id = taught("fruit")

    proposed = person.types("learn", "propose", "--ask")
    assert proposed.exit_code == ExitCode.OK, proposed.stderr
    if person.gets("learn", "status")["state"] == "awaiting_questions":
        assert person.types("learn", "answer", "--accept-suggestions").exit_code == ExitCode.OK

    files = {one["path"]: one["content"] for one in person.gets("learn", "files")["files"]}
    assert "SKILL.md" in files
    validated = person.types("learn", "validate")
    assert validated.exit_code == ExitCode.OK, validated.output
    assert "rehearsal" in validated.stdout
    assert "apprentice learn approve" in validated.stdout

    approved = person.types("learn", "approve", "--note", "fine")
    assert approved.exit_code == ExitCode.OK, approved.output
    assert "✓ refresh availability" in approved.stdout

    session = person.gets("learn", "status", session_id)
    assert session["state"] == "approved"
    saga = person.gets("learn", "saga", session_id)
    assert saga["state"] == "installed"
    assert person.gets("abilities", "show", session["ability_id"])["skill_markdown"] == files["SKILL.md"]


def test_what_is_not_proved_is_listed_and_installed_only_when_it_is_accepted(person) -> None:
    session_id = person.gets("learn", "create", "--only", "terminal")["session"]["learn_session_id"]
    person.shows(
        session_id,
        ("printf 'a,1\n' > pears.csv", ("pears.csv",)),
        ("sqlite3 pears.db", ("pears.db",)),
    )
    person.gets("learn", "mark-goal", "Load the pears into a database")
    person.gets("learn", "stop")
    person.gets("learn", "propose")
    person.types("learn", "answer", "--accept-suggestions")
    validated = person.types("learn", "validate")
    assert validated.exit_code == ExitCode.OK, validated.output
    assert "sqlite3 waits for what a person types" in person.types("learn", "show").stdout

    refused = person.types("learn", "approve")
    assert refused.exit_code == ExitCode.REFUSED, refused.output
    assert "UNPROVED_NOT_ACCEPTED" in refused.stderr
    assert "--accept-unproved" in refused.stderr
    approved = person.types("learn", "approve", "--accept-unproved")
    assert approved.exit_code == ExitCode.OK, approved.output
    assert "not proved here" in approved.stdout
    ability_id = person.gets("learn", "status", session_id)["ability_id"]
    shown = person.types("abilities", "show", ability_id).stdout
    assert "sqlite3 pears.db" in shown
    assert "accepted by user-" in shown
    assert person.gets("abilities", "show", ability_id)["unproved"]["steps"]


def test_without_an_id_a_command_means_the_session_under_way_or_the_latest_that_takes_it(person) -> None:
    created = person.gets("learn", "create")["session"]["learn_session_id"]
    assert person.gets("learn", "status")["learn_session_id"] == created
    assert person.gets("learn", "cancel")["session"]["state"] == "cancelled"

    assert person.gets("learn", "status")["learn_session_id"] == created
    nothing = person.types("learn", "stop")
    assert nothing.exit_code == ExitCode.USAGE
    assert "apprentice learn create" in nothing.stderr


def test_the_status_says_what_is_waited_for_and_what_to_type_next(person) -> None:
    person.types("learn", "create")
    text = person.types("learn", "status").stdout
    assert "is armed" in text
    assert "waits for" in text
    assert "apprentice record terminal --session" in text
    assert "/workflows/learn-session%2F" in text


def test_the_capture_is_steered_from_the_command_line(person) -> None:
    person.gets("learn", "create")
    states = [
        person.gets("learn", *command)["session"]["state"]
        for command in (
            ("start",),
            ("mark-step", "Open the file", "--kind", "guard"),
            ("pause", "--reason", "coffee"),
            ("resume",),
            ("test-policy", "--safe-target", "temp_folder=scratch", "--max-actions", "5"),
            ("stop",),
        )
    ]
    assert states == ["capturing", "capturing", "paused", "capturing", "capturing", "stopped"]


def test_a_refusal_says_why_and_what_is_possible_instead(person) -> None:
    person.gets("learn", "create")
    refused = person.types("learn", "resume")
    assert refused.exit_code == ExitCode.REFUSED
    assert "INVALID_LEARN_STATE_TRANSITION" in refused.stderr
    assert "start" in refused.stderr
    assert refused.stdout == ""


def test_a_second_session_is_refused_with_the_way_out(person) -> None:
    person.gets("learn", "create")
    refused = person.types("learn", "create")
    assert refused.exit_code == ExitCode.REFUSED
    assert "LEARN_SESSION_ALREADY_ACTIVE" in refused.stderr
    assert "apprentice learn cancel" in refused.stderr


def test_a_second_session_is_refused_with_what_the_first_takes_in_its_state(person, taught) -> None:
    taught("comet-tail")
    person.gets("learn", "propose", "--no-ask")
    person.gets("learn", "validate")
    assert person.gets("learn", "status")["state"] == "ready_for_review"
    refused = person.types("learn", "create")
    assert "apprentice learn approve" in refused.stderr
    assert "apprentice learn reject --reason" in refused.stderr
    assert "learn cancel" not in refused.stderr


@pytest.mark.parametrize("command", ["answer", "diff", "questions", "show"])
def test_what_needs_a_proposal_says_what_to_type_before_there_is_one(person, command: str) -> None:
    person.gets("learn", "create")
    refused = person.types("learn", command)
    assert refused.exit_code == ExitCode.USAGE
    assert "is armed and has no proposal" in refused.stderr
    assert "Next: `apprentice record terminal --session" in refused.stderr
    assert "learn propose" not in refused.stderr


def test_a_run_that_is_no_id_is_refused_by_the_name_of_its_option(person) -> None:
    refused = person.types("learn", "create", "--from-run", "nope")
    assert refused.exit_code == ExitCode.USAGE
    assert "--from-run: " in refused.stderr
    assert "source_trace_ids" not in refused.stderr


def test_what_the_service_would_never_take_is_a_usage_error(person) -> None:
    person.gets("learn", "create")
    person.gets("learn", "start")
    assert person.types("learn", "mark-step", "x" * 241).exit_code == ExitCode.USAGE
    assert person.types("learn", "trim", "middle", "e").exit_code == ExitCode.USAGE
    assert person.types("learn", "test-policy", "--safe-target", "moon=x").exit_code == ExitCode.USAGE


def test_a_wrong_token_is_refused_with_the_way_to_name_another(person) -> None:
    refused = person.types("learn", "list", "--token", "wrong")
    assert refused.exit_code == ExitCode.REFUSED
    assert "UNAUTHENTICATED" in refused.stderr
    assert "APPRENTICE_TOKEN" in refused.stderr


def test_when_nobody_listens_the_exit_code_says_so(person) -> None:
    result = person.types("learn", "list", "--api-url", "http://127.0.0.1:9")
    assert result.exit_code == ExitCode.NOT_READY
    assert "apprentice up" in result.stderr


def test_watching_a_session_at_rest_prints_its_events_and_ends(person) -> None:
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    person.gets("learn", "start")
    person.gets("learn", "cancel")

    told = person.types("learn", "watch", session_id).stdout
    assert told.index("learn.session.armed") < told.index("learn.capture.started")
    lines = person.types("learn", "watch", session_id, "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert [one["event"] for one in events][-1] == "learn.session.cancelled"
    ids = [int(one["id"]) for one in events]
    assert ids == sorted(set(ids))


def test_watching_ends_at_the_state_that_was_asked_for(person) -> None:
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    person.gets("learn", "start")
    watched = person.types("learn", "watch", session_id, "--until", "capturing")
    assert watched.exit_code == ExitCode.OK
    assert "is capturing" in watched.stdout


def test_questions_are_listed_and_answered_by_number(person, taught) -> None:
    session_id = taught("mineral")
    person.gets("learn", "propose", "--ask")
    questions = person.gets("learn", "questions", session_id)
    assert questions, "the demonstration leaves nothing open"

    first = person.types("learn", "answer", session_id, "--answer", "1=When a list of planets comes in")
    assert first.exit_code == ExitCode.OK, first.output
    answered = [one for one in person.gets("learn", "questions", session_id) if one["answered"]]
    assert [one["question_id"] for one in answered] == [questions[0]["question_id"]]


def test_a_revised_proposal_carries_the_edit_and_another_hash(person, taught) -> None:
    session_id = taught("planet")
    person.gets("learn", "propose", "--no-ask")
    before = person.gets("learn", "show", session_id)["proposal"]
    revised = person.types(
        "learn", "revise", "Call it otherwise", "--set", "title=Pack the report", session_id
    )
    assert revised.exit_code == ExitCode.OK, revised.output
    after = person.gets("learn", "show", session_id)["proposal"]
    assert after["title"] == "Pack the report"
    assert after["content_hash"] != before["content_hash"]
    assert "said as" in person.types("learn", "show", session_id).stdout


def test_an_adapter_can_be_asked_for_and_the_proposal_shows_its_grade(person, taught) -> None:
    session_id = taught("meteor")
    person.gets("learn", "propose", "--no-ask")
    asked = person.gets("learn", "request-adapter", "The archive of the sales team", session_id)
    assert [one["wanted"] for one in asked["adapter_requests"]] == ["The archive of the sales team"]
    shown = person.types("learn", "show", session_id).stdout
    assert "direct" in shown
    assert "The archive of the sales team" in shown


def test_a_revision_in_words_is_carried_out_or_says_what_could_be_said(person, taught) -> None:
    session_id = taught("comet")
    person.gets("learn", "propose", "--no-ask")
    said = person.types("learn", "revise", "rename the title to Follow a comet", session_id)
    assert said.exit_code == ExitCode.OK, said.output
    assert person.gets("learn", "show", session_id)["proposal"]["title"] == "Follow a comet"

    unclear = person.types("learn", "revise", "make it shine", session_id)
    assert unclear.exit_code == ExitCode.FAILURE
    assert "“make it shine”" in unclear.stderr
    assert "swap steps 2 and 3" in unclear.stderr
    assert "nothing was changed" in unclear.stderr


def test_a_rejected_proposal_is_at_rest_and_can_be_cloned(person, taught) -> None:
    session_id = taught("weather")
    person.gets("learn", "propose", "--no-ask")
    validated = person.types("learn", "validate")
    assert validated.exit_code == ExitCode.OK, validated.output
    assert person.types("learn", "reject", "--reason", "not useful").exit_code == ExitCode.OK
    assert person.gets("learn", "status", session_id)["state"] == "rejected"
    clone = person.gets("learn", "create", "--clone-of", session_id)["session"]
    assert clone["clone_of"] == session_id
    outcomes = {one["learn_session_id"]: one["outcome"] for one in person.gets("learn", "history")["items"]}
    assert outcomes[session_id] == "rejected"


def test_deleting_asks_first(person) -> None:
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    assert person.types("learn", "delete", session_id, answers="n\n").exit_code != ExitCode.OK
    assert person.gets("learn", "status", session_id)["state"] == "armed"
    assert person.types("learn", "delete", session_id, answers="y\n").exit_code == ExitCode.OK
    assert person.gets("learn", "status", session_id)["state"] == "cancelled"
