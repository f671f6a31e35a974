"""The summary of a child workflow, which its parent sends."""


class ChildSummary(str):
    """A summary that names its workflow: it travels in a command of the parent, and is signed for the child."""

    workflow_id: str

    def __new__(cls, text: str, workflow_id: str) -> "ChildSummary":
        """``text`` for the child ``workflow_id``."""
        made = super().__new__(cls, text)
        made.workflow_id = workflow_id
        return made
