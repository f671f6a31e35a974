"""The sidecar of a capability: its sources, the pages it is about, how it has failed (DOC3 §1.1C L5339-5370).

References name what exists: ``page:`` and ``anchor:`` what a lesson in a browser showed, ``bucket:`` the buckets that
the session's project is bound to. The ``recovery_ref`` of a failure names what to bring about (``checkpoint:``), the
revision that got over it (``proposal:``), or the record of what happened (``outcome:``).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.abilities.capability_manifest import CapabilityMetadata, ControlSurfaceNote, KnownFailureMode
from contracts.base import clipped
from contracts.learning.interpretation import DependencyKind, SemanticWorkflowInterpretation
from contracts.learning.observation import BrowserObservation
from contracts.learning.proposal import SkillBundleProposal, SkillDraft
from contracts.learning.validation import ValidationStepResult

MOST_REFS = 50
"""The most references of one kind that a sidecar holds."""

MOST_FAILURE_MODES = 20
"""The most ways to fail that are kept, the newest first."""


@dataclass(frozen=True)
class Surroundings:
    """What an install knows beside the draft; ``seen`` and ``failed`` are in the order in which they happened."""

    seen: Sequence[BrowserObservation] = ()
    failed: Sequence[ValidationStepResult] = ()
    buckets: Sequence[str] = ()


def capability_metadata(
    draft: SkillDraft,
    interpretation: SemanticWorkflowInterpretation,
    proposal: SkillBundleProposal,
    around: Surroundings,
) -> CapabilityMetadata:
    """The sidecar of a learned or imported capability."""
    surfaces = tuple(dict.fromkeys(interpretation.preferred_control_surfaces))
    said = "Named by its author" if proposal.imported_from else "Shown in the demonstration"
    anchors = (
        f"anchor:{_page(one)}#{one.role or 'element'}:{one.accessible_name}"
        for one in around.seen
        if one.accessible_name
    )
    return CapabilityMetadata(
        capability_id=draft.capability_id,
        summary=clipped(interpretation.goal_summary or draft.description, 1000),
        source_refs=(
            f"proposal:{proposal.proposal_id}",
            f"interpretation:{interpretation.interpretation_id}",
            *_origin_refs(proposal, interpretation),
        ),
        control_surface_notes=tuple(
            ControlSurfaceNote(surface=surface, notes=f"{said}; choice {place}.")
            for place, surface in enumerate(surfaces, start=1)
        ),
        dependency_refs=tuple(
            dict.fromkeys(
                [
                    *(f"program:{program}" for program in draft.dependencies),
                    *proposal.support_pack_refs,
                    *(
                        f"{one.dependency_kind.value}:{one.dependency_ref}"
                        for one in interpretation.dependencies
                        if one.dependency_kind is not DependencyKind.SUPPORT_PACK
                    ),
                ]
            )
        ),
        page_knowledge_refs=_distinct(f"page:{_page(one)}" for one in around.seen),
        ui_anchor_refs=_distinct(anchors),
        bucket_refs=_distinct(f"bucket:{one}" for one in around.buckets),
        known_failure_modes=_newest(_failed_tests(proposal, around.failed)),
    )


def succeeding(made: CapabilityMetadata, before: CapabilityMetadata) -> CapabilityMetadata:
    """The sidecar of a further version: what the one before knew stays known.

    Observations are deleted after some days; what an earlier install read of them stays.
    """
    return made.changed(
        page_knowledge_refs=made.page_knowledge_refs or before.page_knowledge_refs,
        ui_anchor_refs=made.ui_anchor_refs or before.ui_anchor_refs,
        known_failure_modes=_newest((*made.known_failure_modes, *before.known_failure_modes)),
    )


def with_failure(known: CapabilityMetadata, outcome: CapabilityOutcome) -> CapabilityMetadata:
    """The sidecar with one more way to fail; of the same trigger the newest is kept."""
    at = outcome.failure_fingerprint
    trigger = ": ".join(part for part in (at, outcome.summary) if part) or outcome.kind.value
    checkpoint = outcome.kind is OutcomeKind.CHECKPOINT and at is not None
    mode = KnownFailureMode(
        trigger=clipped(trigger, 240),
        recovery_ref=clipped(at, 240) if checkpoint and at else f"outcome:{outcome.outcome_id}",
    )
    return known.changed(known_failure_modes=_newest((mode, *known.known_failure_modes)))


def _failed_tests(
    proposal: SkillBundleProposal, failed: Sequence[ValidationStepResult]
) -> Iterator[KnownFailureMode]:
    """Tests that the proposal failed before it was installed, the newest first."""
    for one in reversed(failed):
        said = ": ".join(part for part in (one.test_case_id, one.details or one.label) if part)
        yield KnownFailureMode(
            trigger=clipped(said, 240),
            recovery_ref=f"proposal:{proposal.proposal_id}/revision/{proposal.revision}",
        )


def _newest(modes: Iterable[KnownFailureMode]) -> tuple[KnownFailureMode, ...]:
    found: dict[str, KnownFailureMode] = {}
    for one in modes:
        found.setdefault(one.trigger, one)
    return tuple(found.values())[:MOST_FAILURE_MODES]


def _page(seen: BrowserObservation) -> str:
    return f"{seen.site}{seen.page_path}"


def _distinct(refs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clipped(ref, 240) for ref in refs))[:MOST_REFS]


def _origin_refs(
    proposal: SkillBundleProposal, interpretation: SemanticWorkflowInterpretation
) -> tuple[str, ...]:
    """The session and traces that it was learned from, or the import and the archive."""
    if origin := proposal.imported_from:
        return (f"import:{origin.import_id}", f"archive:sha256:{origin.archive_sha256}")
    traces = (f"trace:{trace_id}" for trace_id in proposal.source_trace_ids)
    return (f"learn_session:{interpretation.learn_session_id}", *traces)
