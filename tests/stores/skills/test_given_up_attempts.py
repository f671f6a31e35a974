"""An attempt that was given up while it ran may have had its effect, whether it may be repeated or not."""

from datetime import timedelta

import pytest

from contracts.learning.observation import ToolEffect
from contracts.skills.invocation import InvocationStatus
from contracts.skills.invocation_work import AttemptOrder, GiveUpCause, GiveUpOrder, InspectAttempt
from stores.platform.database import Database
from stores.skills.attempts import SkillAttempts
from tests.domain.skills.manifests import manifest
from tests.stores.skills.admitted import NOW, Gate


@pytest.mark.parametrize(
    ("effect", "begun", "status"),
    [
        (ToolEffect.UPDATE, True, InvocationStatus.OUTCOME_UNKNOWN),
        (ToolEffect.UPDATE, False, InvocationStatus.CANCELLED),
        (ToolEffect.READ, True, InvocationStatus.CANCELLED),
    ],
)
@pytest.mark.parametrize("repeatable", [True, False])
def test_what_was_given_up_while_it_ran_is_cancelled_only_where_nothing_can_have_happened(
    store: Database, effect: ToolEffect, begun: bool, status: InvocationStatus, repeatable: bool
) -> None:
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    probe = manifest().changed(repeatable=repeatable)
    invocation_id = Gate(store).admit(probe, effect=effect).kept.record.invocation_id
    if begun:
        attempts.begin(AttemptOrder(invocation_id=invocation_id, attempt=1, at=NOW))
    given_up = GiveUpOrder(invocation_id=invocation_id, cause=GiveUpCause.CANCELLED, by="alice", at=NOW)
    ended = attempts.inspect(
        InspectAttempt(invocation_id=invocation_id, attempt=1, given_up=given_up, at=NOW)
    )
    assert ended.standing.status is status
