"""Project bindings among preferences, and the servers that reach a project's sources."""

from datetime import UTC, datetime

import pytest

from contracts.mcp.m365 import M365ConnectorOptions
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.projects.source_binding import ProjectSourceBinding
from domain.projects.bindings import bindings_in, problem_in, servers_of_project

NOW = datetime(2026, 3, 2, tzinfo=UTC)
HARBOUR = {"project_id": "harbour", "source_of_truth": "sharepoint"}


def server(server_id: str, *families: str) -> MCPServerRegistryEntry:
    options = {"operation_families": families, "requested_scopes": ["Files.Read"]}
    return MCPServerRegistryEntry.model_validate(
        {
            "server_id": server_id,
            "provider": "m365" if families else "custom_remote",
            "display_name": server_id,
            "transport": "remote_http",
            "m365": M365ConnectorOptions.model_validate(options) if families else None,
            "created_at": NOW,
            "updated_at": NOW,
        }
    )


SERVERS = (
    server("plain"),
    server("sites", "sharepoint_list_documents"),
    server("drive", "onedrive_fetch_file"),
    server("chat", "teams_post_message"),
    server("mail", "outlook_mail_search"),
)


@pytest.mark.parametrize(
    ("refs", "reached"),
    [
        ({}, set()),
        ({"sharepoint_refs": ["sites/harbour"]}, {"sites"}),
        ({"onedrive_refs": ["harbour"]}, {"drive"}),
        ({"teams_refs": ["harbour/general"], "sharepoint_refs": ["sites/harbour"]}, {"chat", "sites"}),
    ],
)
def test_a_project_is_bound_to_the_servers_that_reach_what_its_binding_names(refs, reached) -> None:
    binding = ProjectSourceBinding.model_validate({**HARBOUR, "source_of_truth": "mixed", **refs})
    assert servers_of_project(binding, SERVERS) == reached


ALL_REFS = {"sharepoint_refs": ["sites/harbour"], "onedrive_refs": ["harbour"]}


@pytest.mark.parametrize(
    ("truth", "refs", "reached"),
    [
        ("sharepoint", ALL_REFS, {"sites"}),
        ("sharepoint", {}, {"sites"}),
        ("onedrive", ALL_REFS, {"drive"}),
        ("mixed", ALL_REFS, {"sites", "drive"}),
        ("doc7_bucket", ALL_REFS, set()),
        ("core_project", ALL_REFS, set()),
        ("core_project", {"teams_refs": ["harbour/general"]}, {"chat"}),
    ],
)
def test_documents_are_reached_where_the_source_of_truth_is(truth, refs, reached) -> None:
    binding = ProjectSourceBinding.model_validate({**HARBOUR, "source_of_truth": truth, **refs})
    assert servers_of_project(binding, SERVERS) == reached


def test_bindings_that_cannot_be_read_are_none_and_other_preferences_do_not_matter() -> None:
    assert bindings_in({"language": "de"}) == ()
    assert bindings_in({"project_bindings": "harbour"}) == ()
    assert [one.project_id for one in bindings_in({"project_bindings": [HARBOUR]})] == ["harbour"]


@pytest.mark.parametrize(
    "bad", ["harbour", [{"project_id": "x"}], [HARBOUR, HARBOUR], [{**HARBOUR, "project_id": " "}]]
)
def test_what_is_no_list_of_bindings_is_told_with_its_place(bad) -> None:
    problem = problem_in({"project_bindings": bad})
    assert problem is not None
    assert problem[0].startswith("payload.project_bindings")


def test_nothing_and_good_bindings_are_no_problem() -> None:
    assert problem_in({"language": "de"}) is None
    assert problem_in({"project_bindings": None}) is None
    assert problem_in({"project_bindings": [HARBOUR]}) is None
