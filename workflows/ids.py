"""Workflow ids: readable in the Temporal UI and derived from the object they belong to."""

NIGHTLY_SCHEDULE = "nightly-maintenance"


def learn_session_id(session_id: str) -> str:
    """The workflow of a learning session."""
    return f"learn-session/{session_id}"


def validation_run_id(run_id: str) -> str:
    """The workflow of a validation run."""
    return f"validation-run/{run_id}"


def install_saga_id(saga_id: str) -> str:
    """The workflow of an install saga."""
    return f"install-saga/{saga_id}"
