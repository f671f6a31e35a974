"""The payload that reopens exactly the object a person was looking at (DOC3 §0A.23)."""

from contracts.base import Text80, Text120, Text160, Uuid, VersionedContract


class LearningQueryContextPayload(VersionedContract):
    """Where a question about learning comes from, and what it refers to."""

    source_surface: Text120
    source_id: Text160 | None = None
    learn_session_id: Uuid | None = None
    proposal_id: Uuid | None = None
    trace_ids: tuple[Uuid, ...] = ()
    cluster_id: Uuid | None = None
    project_id: Text120 | None = None
    app_family: Text80 | None = None
    current_state: Text80 | None = None
    referenced_ids: tuple[Text160, ...] = ()
