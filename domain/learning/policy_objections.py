"""Check a test policy before it is set: what a rehearsal here cannot keep is refused, with what would do instead.

A rehearsal runs in a temporary folder without network (DOC3 §0C.14; docs/concepts.md, "Validation"), so that whatever
needs a live system is nothing that it could honour.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from contracts.learning.test_policy import RehearsalSafeTarget, SafeTargetKind, TestPolicy, TestPolicyMode

_NO_NETWORK = "a rehearsal has no network here"

REFUSED_MODES: Mapping[TestPolicyMode, str] = {
    TestPolicyMode.REDIRECT_SEND: f"nothing is sent, so nothing can be redirected: {_NO_NETWORK};"
    " choose copy_artifact, and accept the sending step without proof",
    TestPolicyMode.LIVE_READ_SAFE_WRITE: f"nothing live can be read: {_NO_NETWORK};"
    " choose copy_artifact, and name what was read as a copied_document",
    TestPolicyMode.CONTROLLED_LIVE_TEST: f"nothing live can be tested: {_NO_NETWORK};"
    " choose copy_artifact, and accept the live steps without proof",
}
"""The modes that are not offered, each with its reason."""

REFUSED_TARGETS: Mapping[SafeTargetKind, str] = {
    SafeTargetKind.SAFE_EMAIL_RECIPIENT: f"nothing is sent to anybody: {_NO_NETWORK}; leave it out",
    SafeTargetKind.MANAGED_BROWSER_PROFILE: "no browser is opened: pages are not rehearsed; leave it out",
    SafeTargetKind.TEST_SHAREPOINT_SITE: f"no site is reached: {_NO_NETWORK}; name a copied_document instead",
}
"""The kinds of safe target that are no place in a folder, each with its reason."""


def policy_for_target(ref: str, policy_id: str) -> TestPolicy:
    """The test policy that a requested safe target stands for: a document to copy, or the only place to write to.

    An absolute path is a document that the rehearsal works on a copy of, any other path a folder inside the
    rehearsal's; a mail address and a web address are what ``policy_objections`` refuses.
    """
    if "://" in ref:
        kind, mode = SafeTargetKind.TEST_SHAREPOINT_SITE, TestPolicyMode.COPY_ARTIFACT
    elif "@" in ref and "/" not in ref:
        kind, mode = SafeTargetKind.SAFE_EMAIL_RECIPIENT, TestPolicyMode.COPY_ARTIFACT
    elif PurePosixPath(ref).is_absolute():
        kind, mode = SafeTargetKind.COPIED_DOCUMENT, TestPolicyMode.COPY_ARTIFACT
    else:
        kind, mode = SafeTargetKind.TEMP_FOLDER, TestPolicyMode.SAFE_TARGET_ONLY
    return TestPolicy(
        policy_id=policy_id, mode=mode, safe_targets=(RehearsalSafeTarget(target_kind=kind, ref=ref),)
    )


def policy_objections(policy: TestPolicy) -> tuple[tuple[str, str], ...]:
    """What of ``policy`` cannot be kept: the path of each field within it, and what is wrong."""
    return tuple(_objections(policy))


def _objections(policy: TestPolicy) -> Iterator[tuple[str, str]]:
    if reason := REFUSED_MODES.get(policy.mode):
        yield "mode", f"{policy.mode.value}: {reason}"
    if policy.mode is TestPolicyMode.SAFE_TARGET_ONLY and not policy.safe_targets:
        yield "safe_targets", "safe_target_only needs one at least: nothing else may be written"
    for number, target in enumerate(policy.safe_targets):
        if problem := _target_problem(target, policy.mode):
            yield f"safe_targets.{number}", problem
    if policy.allowed_domains:
        yield "allowed_domains", f"no domain can be reached: {_NO_NETWORK}; leave it empty"


def _target_problem(target: RehearsalSafeTarget, mode: TestPolicyMode) -> str | None:
    kind, ref = target.target_kind, target.ref
    if reason := REFUSED_TARGETS.get(kind):
        return f"{kind.value} {ref}: {reason}"
    path = PurePosixPath(ref)
    if kind is SafeTargetKind.COPIED_DOCUMENT:
        if mode is TestPolicyMode.BLANK_ARTIFACT:
            return f"blank_artifact copies nothing; choose copy_artifact to work on {ref}"
        return None if path.is_absolute() else f"{ref} is relative; name the document by its absolute path"
    if path.is_absolute() or ".." in path.parts or not path.parts:
        return f"{ref} leads out of the rehearsal's folder; name a path inside it"
    return None
