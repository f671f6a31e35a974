"""Each mode, kind of target and field of a test policy is kept by a rehearsal, or refused when it is set."""

from typing import Any
from uuid import uuid4

import pytest

from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy, TestPolicyMode
from domain.learning.policy_objections import policy_objections

FOLDER = RehearsalSafeTarget(target_kind=SafeTargetKind.TEMP_FOLDER, ref="scratch")

MODES = {
    TestPolicyMode.READ_ONLY: None,
    TestPolicyMode.DRY_RUN_ONLY: None,
    TestPolicyMode.BLANK_ARTIFACT: None,
    TestPolicyMode.COPY_ARTIFACT: None,
    TestPolicyMode.SAFE_TARGET_ONLY: None,
    TestPolicyMode.REDIRECT_SEND: "nothing can be redirected",
    TestPolicyMode.LIVE_READ_SAFE_WRITE: "nothing live can be read",
    TestPolicyMode.CONTROLLED_LIVE_TEST: "nothing live can be tested",
}

TARGETS = {
    (SafeTargetKind.TEMP_FOLDER, "scratch"): None,
    (SafeTargetKind.TEMP_FOLDER, "/tmp/scratch"): "/tmp/scratch leads out",
    (SafeTargetKind.BLANK_DOCUMENT, "drafts/letter.txt"): None,
    (SafeTargetKind.BLANK_DOCUMENT, "../letter.txt"): "../letter.txt leads out",
    (SafeTargetKind.BLANK_PROJECT, "project"): None,
    (SafeTargetKind.BLANK_PROJECT, "a/../../b"): "a/../../b leads out",
    (SafeTargetKind.COPIED_DOCUMENT, "/home/alice/notes.txt"): None,
    (SafeTargetKind.COPIED_DOCUMENT, "notes.txt"): "notes.txt is relative",
    (SafeTargetKind.SAFE_EMAIL_RECIPIENT, "me@example.org"): "nothing is sent to anybody",
    (SafeTargetKind.MANAGED_BROWSER_PROFILE, "work"): "no browser is opened",
    (SafeTargetKind.TEST_SHAREPOINT_SITE, "https://example.org"): "no site is reached",
}


def objections(**fields: Any) -> dict[str, str]:
    fields = {"mode": TestPolicyMode.COPY_ARTIFACT, "safe_targets": (FOLDER,), **fields}
    return dict(policy_objections(TestPolicy(policy_id=str(uuid4()), **fields)))


def test_every_mode_and_every_kind_of_target_has_its_row() -> None:
    assert set(MODES) == set(TestPolicyMode)
    assert {kind for kind, _ in TARGETS} == set(SafeTargetKind)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_kept_or_refused_with_what_would_do(mode: TestPolicyMode) -> None:
    found, reason = objections(mode=mode), MODES[mode]
    if reason is None:
        assert found == {}
    else:
        assert reason in found["mode"]
        assert "copy_artifact" in found["mode"]


@pytest.mark.parametrize(("kind", "ref"), TARGETS)
def test_a_target_is_a_place_for_the_rehearsal_or_is_refused_by_name(kind: SafeTargetKind, ref: str) -> None:
    target = RehearsalSafeTarget(target_kind=kind, ref=ref)
    found, reason = objections(safe_targets=(FOLDER, target)), TARGETS[kind, ref]
    assert set(found) == (set() if reason is None else {"safe_targets.1"})
    assert reason is None or reason in found["safe_targets.1"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"allowed_domains": ("example.org",)}, "allowed_domains"),
        ({"mode": TestPolicyMode.SAFE_TARGET_ONLY, "safe_targets": ()}, "safe_targets"),
        (
            {
                "mode": TestPolicyMode.BLANK_ARTIFACT,
                "safe_targets": (
                    RehearsalSafeTarget(target_kind=SafeTargetKind.COPIED_DOCUMENT, ref="/notes.txt"),
                ),
            },
            "safe_targets.0",
        ),
    ],
)
def test_what_no_rehearsal_could_keep_is_refused(fields: dict[str, Any], path: str) -> None:
    assert list(objections(**fields)) == [path]


@pytest.mark.parametrize(
    "fields",
    [
        {"cleanup_required": True},
        {"max_actions": 1},
        {"forbid_destructive_writes": False},
        {"forbid_external_send": False},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_the_other_fields_are_taken(fields: dict[str, Any]) -> None:
    assert objections(**fields) == {}
