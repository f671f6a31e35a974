"""Which project a request means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.projects.source_binding import (
    AmbiguityPolicy,
    ProjectSourceBinding,
    ResolutionState,
    ResolveProjectRequest,
    SourceOfTruth,
)
from domain.projects.bindings import resolve


def binding(project_id: str, **fields: object) -> ProjectSourceBinding:
    """A binding whose documents are on SharePoint."""
    return ProjectSourceBinding(project_id=project_id, source_of_truth=SourceOfTruth.SHAREPOINT, **fields)  # type: ignore[arg-type]


HENDERSON = binding("henderson", aliases=("Henderson v. Court",), sharepoint_refs=("sites/henderson",))
ACME = binding("p-acme", aliases=("Acme merger",), bucket_ids=("b-7",))


@pytest.mark.acceptance("9.14-1")
def test_this_matter_is_the_rooms_active_project() -> None:
    request = ResolveProjectRequest(
        query="get the latest draft in this matter", active_project_id="henderson"
    )
    answer = resolve(request, [ACME, HENDERSON])
    assert answer.resolution_state is ResolutionState.RESOLVED
    assert answer.matches[0].binding.sharepoint_refs == ("sites/henderson",)


@pytest.mark.acceptance("9.14-2")
@pytest.mark.acceptance("0.11C-10")
def test_without_a_binding_the_person_is_asked() -> None:
    request = ResolveProjectRequest(query="get the latest draft in this matter", active_project_id="unbound")
    answer = resolve(request, [ACME, HENDERSON])
    assert (answer.resolution_state, answer.matches) == (ResolutionState.NONE, ())
    assert answer.ask


@pytest.mark.acceptance("9.14-3")
def test_an_explicit_project_wins_over_a_bucket_and_an_alias() -> None:
    request = ResolveProjectRequest(
        query="henderson: file it beside the Acme merger papers", candidate_bucket_ids=("b-7",)
    )
    answer = resolve(request, [ACME, HENDERSON])
    assert answer.resolution_state is ResolutionState.RESOLVED
    assert answer.matches[0].binding.project_id == "henderson"


def test_a_name_in_the_words_wins_over_the_active_project() -> None:
    request = ResolveProjectRequest(query="open the Acme merger folder", active_project_id="henderson")
    answer = resolve(request, [ACME, HENDERSON])
    assert [match.binding.project_id for match in answer.matches] == ["p-acme"]


def test_two_that_fit_alike_are_a_question_unless_all_are_wanted() -> None:
    request = ResolveProjectRequest(query="the merger", candidate_bucket_ids=("b-7",))
    for policy, asks in [
        (AmbiguityPolicy.REQUIRE_DISAMBIGUATION, True),
        (AmbiguityPolicy.RETURN_ALL, False),
    ]:
        both = [binding(name, bucket_ids=("b-7",), ambiguity_policy=policy) for name in ("one", "two")]
        answer = resolve(request, both)
        assert answer.resolution_state is ResolutionState.AMBIGUOUS
        assert len(answer.matches) == 2
        assert bool(answer.ask) is asks


def test_who_wants_certainty_is_asked_even_about_one() -> None:
    strict = binding("p-acme", bucket_ids=("b-7",), ambiguity_policy=AmbiguityPolicy.REQUIRE_DISAMBIGUATION)
    answer = resolve(ResolveProjectRequest(query="the papers", candidate_bucket_ids=("b-7",)), [strict])
    assert answer.resolution_state is ResolutionState.AMBIGUOUS
    assert "p-acme" in (answer.ask or "")


def test_a_name_inside_a_word_is_no_name() -> None:
    answer = resolve(ResolveProjectRequest(query="acmeology"), [ACME])
    assert answer.resolution_state is ResolutionState.NONE


@given(
    query=st.text(min_size=1, max_size=60),
    active=st.sampled_from([None, "henderson", "p-acme"]),
    order=st.permutations([HENDERSON, ACME]),
)
def test_the_order_of_bindings_never_matters_and_the_best_comes_first(
    query: str, active: str | None, order: list[ProjectSourceBinding]
) -> None:
    request = ResolveProjectRequest(query=query, active_project_id=active)
    answer = resolve(request, order)
    assert answer == resolve(request, [HENDERSON, ACME])
    scores = [match.confidence for match in answer.matches]
    assert scores == sorted(scores, reverse=True)
    assert bool(answer.ask) is (answer.resolution_state is not ResolutionState.RESOLVED)
