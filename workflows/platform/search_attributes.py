"""Search attributes by which workflows are found: kind, owner, and the coarse state of a session."""

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

STATE_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeState")
OWNER_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeOwner")
KIND_ATTRIBUTE = SearchAttributeKey.for_keyword("ApprenticeKind")


def search_attributes_of(kind: str, owner: str | None = None) -> TypedSearchAttributes:
    """What a workflow is found by from its start: its kind, and whose it is."""
    pairs: list[SearchAttributePair[str]] = [SearchAttributePair(KIND_ATTRIBUTE, kind)]
    if owner is not None:
        pairs.append(SearchAttributePair(OWNER_ATTRIBUTE, owner))
    return TypedSearchAttributes(pairs)
