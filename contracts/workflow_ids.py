"""Workflow and schedule ids: ``KIND/OBJECT``, readable in the Temporal UI and spelled only here.

The ids also name the receipt chains of these objects (``journal.aggregate``).
"""

LOOK = "look-at-the-store"
"""The signal that tells a workflow that the store may know more."""

NIGHTLY_SCHEDULE = "nightly-maintenance"
MINING_SCHEDULE = "skill-mining"
REPROBE_SCHEDULE = "capability-reprobe"
MCP_HEALTH_SCHEDULE = "mcp-health"
SCHEDULES = (NIGHTLY_SCHEDULE, MINING_SCHEDULE, REPROBE_SCHEDULE, MCP_HEALTH_SCHEDULE)

LEARN_SESSION = "learn-session"
VALIDATION_RUN = "validation-run"
INSTALL_SAGA = "install-saga"
ABILITY = "ability"
MINED_SKILL = "mined-skill"
PRACTICE = "practice"
TRIAL = "ability-trial"
MCP_DISPATCH = "mcp-dispatch"
MCP_PROBE = "mcp-probe"
AUTH_PROFILE = "auth-profile"
SKILL_INVOCATION = "skill-invocation"
SKILL_CATALOG = "skill-catalog"
CHECK_IN = "check-in"
SKILL_IMPORT = "skill-import"
PACK_INSTALL = "pack-install"
IMPORT_VALIDATION = "import-validation"


def learn_session_id(session_id: str) -> str:
    """The workflow of a learning session."""
    return f"{LEARN_SESSION}/{session_id}"


def validation_run_id(run_id: str) -> str:
    """The workflow of a validation run."""
    return f"{VALIDATION_RUN}/{run_id}"


def install_saga_id(saga_id: str) -> str:
    """The workflow of an install saga."""
    return f"{INSTALL_SAGA}/{saga_id}"


def ability_workflow_id(ability_id: str) -> str:
    """The workflow of an installed ability."""
    return f"{ABILITY}/{ability_id}"


def capability_reprobe_id(capability_id: str) -> str:
    """The workflow that rechecks one capability on request: one at a time."""
    return f"{REPROBE_SCHEDULE}/{capability_id}"


def skill_mining_id(run_id: str) -> str:
    """The workflow of a mining run started on request."""
    return f"{MINING_SCHEDULE}/{run_id}"


def mined_skill_id(candidate_id: str) -> str:
    """The workflow that builds a mined candidate."""
    return f"{MINED_SKILL}/{candidate_id}"


def practice_id(session_id: str) -> str:
    """The workflow of a session's autonomous practice."""
    return f"{PRACTICE}/{session_id}"


def trial_workflow_id(trial_id: str) -> str:
    """The workflow of a trial of an ability on another folder."""
    return f"{TRIAL}/{trial_id}"


def mcp_dispatch_id(dispatch_id: str) -> str:
    """The workflow of one tool call."""
    return f"{MCP_DISPATCH}/{dispatch_id}"


def mcp_probe_id(server_id: str) -> str:
    """The workflow that probes one tool server: one probe at a time."""
    return f"{MCP_PROBE}/{server_id}"


def auth_profile_workflow_id(auth_profile_id: str) -> str:
    """The workflow of a sign-in."""
    return f"{AUTH_PROFILE}/{auth_profile_id}"


def check_in_workflow_id(check_in_id: str) -> str:
    """The workflow of a check-in."""
    return f"{CHECK_IN}/{check_in_id}"


def skill_invocation_id(invocation_id: str) -> str:
    """The workflow of one invocation of a skill."""
    return f"{SKILL_INVOCATION}/{invocation_id}"


def import_validation_id(run_id: str) -> str:
    """The workflow that validates an installed import again; the checks are its child."""
    return f"{IMPORT_VALIDATION}/{run_id}"


def skill_import_workflow_id(import_id: str) -> str:
    """The workflow of one import of a skill bundle."""
    return f"{SKILL_IMPORT}/{import_id}"


def pack_install_workflow_id(pack_install_id: str) -> str:
    """The workflow of one install of a skill pack."""
    return f"{PACK_INSTALL}/{pack_install_id}"
