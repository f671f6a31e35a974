"""Workflow ids: readable in the Temporal UI and derived from the object they belong to."""

NIGHTLY_SCHEDULE = "nightly-maintenance"
MINING_SCHEDULE = "skill-mining"
REPROBE_SCHEDULE = "capability-reprobe"
MCP_HEALTH_SCHEDULE = "mcp-health"


def learn_session_id(session_id: str) -> str:
    """The workflow of a learning session."""
    return f"learn-session/{session_id}"


def validation_run_id(run_id: str) -> str:
    """The workflow of a validation run."""
    return f"validation-run/{run_id}"


def install_saga_id(saga_id: str) -> str:
    """The workflow of an install saga."""
    return f"install-saga/{saga_id}"


def ability_workflow_id(ability_id: str) -> str:
    """The workflow of an installed ability."""
    return f"ability/{ability_id}"


def capability_reprobe_id(capability_id: str) -> str:
    """The workflow that rechecks one capability for a person: one at a time."""
    return f"{REPROBE_SCHEDULE}/{capability_id}"


def skill_mining_id(run_id: str) -> str:
    """The workflow of a mining run that a person started."""
    return f"skill-mining/{run_id}"


def mined_skill_id(candidate_id: str) -> str:
    """The workflow that builds a mined candidate."""
    return f"mined-skill/{candidate_id}"


def practice_id(session_id: str) -> str:
    """The workflow of a session's autonomous practice."""
    return f"practice/{session_id}"


def mcp_dispatch_id(dispatch_id: str) -> str:
    """The workflow of one tool call."""
    return f"mcp-dispatch/{dispatch_id}"


def mcp_probe_id(server_id: str) -> str:
    """The workflow that looks at one tool server: one look at a time."""
    return f"mcp-probe/{server_id}"


def auth_profile_workflow_id(auth_profile_id: str) -> str:
    """The workflow of a sign-in."""
    return f"auth-profile/{auth_profile_id}"
