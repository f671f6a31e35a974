"""A demonstration in a browser: its steps, its goal, what success is, and a draft without gestures or selectors."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.learning.observation import BrowserAction, BrowserObservation, ObservedActionEvent
from contracts.learning.questions import QuestionField
from contracts.learning.session import ObservationMode
from domain.learning.checkpoints.checkpoint_lint import lint
from domain.learning.comparison.demonstrations import compared, shown_demonstrations
from domain.learning.interpretation.browser import action_label, target_of
from domain.learning.interpretation.meaningful import is_meaningful, is_on_target

SITE = "https://shop.example"
REFUSED = {"alerts": ["Quantity is missing"], "invalid_fields": ["Quantity"]}


@pytest.fixture
def shows(teach: Any) -> Any:
    """Makes browser events, one a second, as the recorder would."""

    class Shows:
        def __init__(self) -> None:
            self.at = 0

        def __call__(self, action: str, title: str = "Orders", **facts: Any) -> ObservedActionEvent:
            self.at += 1
            observed = BrowserObservation.model_validate(
                {"action": action, "site": SITE, "page_path": "/orders", "page_title": title, **facts}
            )
            is_snapshot = observed.action is BrowserAction.SNAPSHOT
            return teach.event(
                self.at,
                adapter_kind="browser_snapshot" if is_snapshot else "browser_dom",
                app_family="browser",
                window_title=title,
                action_label=action_label(observed)[:240],
                target_ref=target_of(observed)[:240] or None,
                caused_state_change=not is_snapshot,
                control_surface="native_openclaw_browser",
                browser=observed.model_dump(),
            )

        def sign_in(self) -> list[ObservedActionEvent]:
            return [
                self("navigate", "Sign in"),
                self("snapshot", "Sign in", outcome={"fields": ["User", "Password"]}),
                self("input", "Sign in", accessible_name="User", form_name="Sign in", value=value("text", 5)),
                self(
                    "input",
                    "Sign in",
                    accessible_name="Password",
                    form_name="Sign in",
                    value=value("password"),
                ),
                self("submit", "Sign in", accessible_name="Sign in", form_name="Sign in"),
                self("navigate", "Stock"),
                self("snapshot", "Stock", outcome={"headings": ["Stock list"]}),
            ]

        def order(self) -> list[ObservedActionEvent]:
            return [
                self("click", "Stock", role="link", accessible_name="New order"),
                self("navigate", "New order"),
                self("snapshot", "New order", outcome={"headings": ["New order"]}),
                self("input", "New order", role="textbox", accessible_name="Customer", value=value("text", 9)),
                self("click", "New order", role="button", accessible_name="Save order"),
                self("submit", "New order", accessible_name="Save order", form_name="New order"),
                self("snapshot", "New order", outcome=REFUSED),
                self("input", "New order", role="spinbutton", accessible_name="Quantity", value=value("number", 1)),
                self("submit", "New order", accessible_name="Save order", form_name="New order"),
                self("snapshot", "New order", outcome={"messages": ["Order 4711 for … is saved"]}),
            ]  # fmt: skip

    return Shows()


def value(kind: str, length: int = 0) -> dict[str, object]:
    return {"kind": kind, "length": length}


def test_a_step_ends_with_what_the_page_then_showed(teach: Any, shows: Any) -> None:
    learned = teach.learn([*shows.sign_in(), *shows.order()])
    assert [step.label for step in learned.steps] == [
        "Open the page “Sign in”",
        "Sign in",
        "Open the page “New order”",
        "Save order",
    ]


def test_a_form_that_was_refused_and_sent_again_is_one_step_with_the_last_outcome(
    teach: Any, shows: Any
) -> None:
    learned = teach.learn(shows.order())
    (condition,) = learned.interpretation.success_conditions
    assert condition == "The page “New order” shows the message “Order … for … is saved”"
    assert "missing" not in learned.file("SKILL.md")


def test_goal_success_and_inputs_come_from_the_work_and_not_from_the_way_in(teach: Any, shows: Any) -> None:
    learned = teach.learn([*shows.sign_in(), *shows.order()])
    interpretation = learned.interpretation
    assert interpretation.title == "Save order"
    assert interpretation.goal_summary == f"Save order on {SITE}"
    assert not any("Stock" in condition for condition in interpretation.success_conditions)
    skill = learned.file("SKILL.md")
    assert "The values for “Customer” and “Quantity”; none was kept." in skill
    assert "this skill holds no password" in skill
    assert "get a yes before each form is sent" in skill


def test_fields_of_a_form_without_a_name_are_inputs_even_where_a_sign_in_stood_before(
    teach: Any, shows: Any
) -> None:
    fields = {"fields": ["Customer", "Delivery day", "Remark"], "headings": ["New order"]}
    learned = teach.learn(
        [
            shows("input", "Shop", role="textbox", accessible_name="User name", value=value("text", 5)),
            shows("input", "Shop", role="textbox", accessible_name="Password", value=value("password")),
            shows("submit", "Shop", accessible_name="Sign in"),
            shows("snapshot", "Shop", outcome=fields),
            shows("input", "Shop", role="textbox", accessible_name="Customer", value=value("text", 9)),
            shows(
                "select", "Shop", role="combobox", accessible_name="Delivery day", value=value("choice", 6)
            ),
            shows("submit", "Shop", accessible_name="Save order"),
            shows("snapshot", "Shop", outcome={"messages": ["Order 4711 is saved"]}),
        ]
    )
    inputs = learned.file("SKILL.md").partition("## Inputs to ask for")[2].partition("##")[0]
    assert "The values for “Customer” and “Delivery day”; none was kept." in inputs
    assert "Whether “Remark” of the same page should be filled in; they were left alone." in inputs
    assert "User name" not in inputs
    assert "this skill holds no password" in inputs


def test_the_draft_is_clean_and_says_what_must_hold(teach: Any, shows: Any) -> None:
    learned = teach.learn([*shows.sign_in(), *shows.order()])
    assert lint(learned.interpretation, learned.draft).findings == ()
    assert learned.draft.rehearsal == ()
    kinds = {effect.kind for effect in learned.interpretation.observed_effects}
    assert kinds == {"page_shows"}
    manifest = learned.json(f"capabilities/{learned.draft.capability_id}.json")
    assert manifest["requires_supervision"] is True
    assert manifest["permissions"] == ["browser.use"]
    assert manifest["health_probe"] == {"kind": "browser", "target": SITE, "timeout_ms": 3000}
    assert {rule["kind"] for rule in manifest["verification"]} == {"snapshot_label"}


def test_a_download_is_an_outcome(teach: Any, shows: Any) -> None:
    learned = teach.learn(
        [
            shows("navigate", "Stock"),
            shows("snapshot", "Stock", outcome={"headings": ["Stock list"]}),
            shows("click", "Stock", role="link", accessible_name="Download as CSV"),
            shows("download", "Stock", file_name="stock-2026-01.csv"),
        ]
    )
    # The date changes from run to run: the skill leaves it open.
    assert learned.interpretation.success_conditions == (
        "The file stock-….csv is downloaded and is not empty",
    )
    assert [e.kind for e in learned.interpretation.observed_effects] == ["file_downloaded"]
    assert learned.interpretation.title.startswith("Download")


def test_a_marked_step_keeps_the_words_of_the_person(teach: Any, shows: Any) -> None:
    events = shows.order()
    learned = teach.learn(events, [teach.mark("mark_step", 0.5, "Save the order")])
    assert [step.label for step in learned.steps] == ["Save the order"]
    (checkpoint,) = learned.interpretation.checkpoints
    assert checkpoint.goal == "The order is saved"
    assert "shows the message" in checkpoint.success_condition


def test_commands_and_pages_in_one_demonstration_each_give_their_effects(teach: Any, shows: Any) -> None:
    events = [*shows.order(), teach.command(60, "sort a.csv > b.csv", "+b.csv")]
    learned = teach.learn(events)
    assert {e.kind for e in learned.interpretation.observed_effects} == {"file_exists", "page_shows"}
    assert len(learned.draft.rehearsal) == 1
    assert lint(learned.interpretation, learned.draft).passed


def test_without_an_outcome_success_is_a_guess_that_is_asked_about(teach: Any, shows: Any) -> None:
    seen = teach.learn(shows.order()).interpretation.confidences
    blind = teach.learn([e for e in shows.order() if e.browser.outcome is None]).interpretation.confidences
    sure = {c.field: c.confidence for c in seen}[QuestionField.SUCCESS_CONDITION]
    unsure = {c.field: c.confidence for c in blind}[QuestionField.SUCCESS_CONDITION]
    assert unsure < 0.6 <= sure


def test_a_page_summary_counts_and_pointer_movements_do_not(shows: Any) -> None:
    assert is_meaningful(shows("snapshot", outcome={"headings": ["Orders"]}))
    assert is_meaningful(shows("click", role="button", accessible_name="Save"))
    moved = shows("click").changed(action_label="hover over a row")
    assert not is_meaningful(moved)


def test_a_whitelist_can_name_the_site(shows: Any) -> None:
    event = shows("click", role="button", accessible_name="Save")
    scope = ObservationMode.OUTSIDE_AGENT
    assert is_on_target(event, scope, ["shop.example"])
    assert is_on_target(event, scope, [SITE])
    assert not is_on_target(event, scope, ["other.example"])


HOSTILE = st.sampled_from(
    [
        "Click here", "Click the #submit-button", "div > span.btn", "//div[@id='x']", "at (120, 340)", "Press Enter",
        "ada@mail.example", "password: hunter2!", "Wait 5 seconds", "4111 1111 1111 1111", "Done", "", "“quoted”",
        "--- \n # Heading", "Bestellung gespeichert", "Order 17 is saved", "x" * 110, "[MASKED]", "<b>bold</b>",
    ]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=4))
def test_whatever_a_page_says_the_draft_is_lint_clean(
    teach: Any, shows: Any, pages: list[tuple[str, str, str]]
) -> None:
    events: list[ObservedActionEvent] = []
    for title, name, message in pages:
        events += [
            shows("input", title, role="textbox", accessible_name=name, value=value("text", 4)),
            shows("submit", title, accessible_name=name, form_name=message),
            shows("snapshot", title, outcome={"messages": [message], "headings": [name], "dialogs": [title]}),
        ]
    learned = teach.learn(events)
    report = lint(learned.interpretation, learned.draft)
    assert report.passed, report.findings


def test_two_demonstrations_in_a_browser_are_one_task(teach: Any, shows: Any) -> None:
    first, second = shows.order(), shows.order()
    marks = [teach.mark("start", 0.5), teach.mark("start", 10.5)]
    demonstrations = shown_demonstrations([*first, *second], marks)
    assert [[step.label for step in steps] for steps in demonstrations] == [
        ["Open the page “New order”", "Save order"]
    ] * 2
    comparison = compared(demonstrations)
    assert comparison is not None
    assert comparison.compatible
