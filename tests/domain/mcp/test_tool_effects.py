"""Effect of a tool: reads pass unasked, and nothing that changes, sends or runs something does."""

from pathlib import Path
from typing import NamedTuple

import pytest

from contracts.learning.observation import ToolEffect
from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.tool_effects import effect_of


class RealTool(NamedTuple):
    """A row of the table: a tool of a public server, and what must come of it without a hint."""

    server: str
    name: str
    parameters: str
    expected: str
    description: str

    @property
    def definition(self) -> MCPToolDefinition:
        """The tool as it would be listed; ``action:get/set`` is a parameter with its choices."""
        named = (one.partition(":") for one in self.parameters.split(",") if one)
        properties = {name: {"enum": choices.split("/")} if choices else {} for name, _, choices in named}
        schema = {"type": "object", "properties": properties}
        return MCPToolDefinition(tool_name=self.name, description=self.description, input_schema=schema)


LINES = Path(__file__).with_name("real_tools.tsv").read_text(encoding="utf-8").splitlines()
TABLE = [RealTool(*line.split("\t")) for line in LINES if not line.startswith("#")]


def tool(name: str = "find", **fields: object) -> MCPToolDefinition:
    return MCPToolDefinition.model_validate({"tool_name": name, **fields})


def test_no_real_tool_with_an_effect_passes_unasked() -> None:
    wrong = [
        one.name for one in TABLE if one.expected == "asks" and effect_of(one.definition) is ToolEffect.READ
    ]
    assert not wrong
    assert sum(one.expected == "asks" for one in TABLE) == 165


def test_every_clear_read_passes_unasked() -> None:
    wrong = [
        one.name
        for one in TABLE
        if one.expected == "reads" and effect_of(one.definition) is not ToolEffect.READ
    ]
    assert not wrong
    assert sum(one.expected == "reads" for one in TABLE) == 120


def test_the_table_says_which_tools_it_expects_what_of() -> None:
    assert len(TABLE) >= 300
    assert {one.expected for one in TABLE} == {"asks", "reads", "either"}
    assert len({(one.server, one.name) for one in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    "name",
    [
        "exec_query",
        "resolve_issue",
        "find_and_buy",
        "describe_and_shutdown_instance",
        "export_to_email",
        "download_and_exec",
        "query",
        "check",
        "export",
        "download",
        "resolve",
        "check_out_basket",
        "manage_task_list",
        "get_then_defenestrate",
        "read_or_liquidate",
        "list_users_and_ban",
        "searchAndDestroy",
        "get_d\u0435lete_all",
        "getanddelete",
        "view_and_sign_contract",
        "count_then_settle",
    ],
)
def test_a_name_that_may_do_more_than_read_is_asked_about(name: str) -> None:
    assert effect_of(tool(name)) is not ToolEffect.READ


@pytest.mark.parametrize(
    "name", ["get_users_and_groups", "list_posts_and_comments", "find_duplicate", "get_trade_history"]
)
def test_two_things_that_are_read_are_a_read(name: str) -> None:
    assert effect_of(tool(name)) is ToolEffect.READ


CONTRADICTIONS = [
    "Deletes all files in the folder.",
    "Gets the weather, and sends your location to the provider.",
    "Reads the inbox and forwards it to the archive address.",
    "This tool transfers the given amount to another account.",
    "Lists the tickets, then closes the stale ones.",
    "Fetches the page. It also submits the form on it.",
    "Removes old entries while listing them.",
    "Looks up a price and buys the item if it is cheap.",
    "Executes the given SQL against the production database.",
    "Runs arbitrary shell commands on the host.",
    "Returns the report. The report is then published to the public site.",
    "Your card will be charged for each search.",
    "Show the status. This cannot be undone.",
    "Find a user and permanently remove them.",
    "Get a value by executing the script that is stored under the key.",
    "Reboots the machine and shows its uptime.",
    "Flips the feature flag and shows what it is now.",
    "Send an email to the person found.",
    "Update the record that is found.",
    "Writes the result to disk and returns the path.",
    "Get the file; afterwards delete the original.",
    "Posts a message to the channel and lists the replies.",
    "Places an order for the part.",
    "Note: this tool deletes the cache each time.",
]


@pytest.mark.parametrize("description", CONTRADICTIONS)
def test_a_description_that_contradicts_a_harmless_name_counts(description: str) -> None:
    assert effect_of(tool("get_report", description=description)) is not ToolEffect.READ


@pytest.mark.parametrize(
    "description",
    [
        "Deletes all files in the folder.",
        "Gets the weather, and sends your location to the provider.",
        "This tool transfers the given amount to another account.",
        "Reads the file and deletes it.",
        "Show the status. This cannot be undone.",
    ],
)
def test_a_hint_does_not_outweigh_a_description_that_contradicts_it(description: str) -> None:
    assert effect_of(tool("get_report", description=description, read_only=True)) is not ToolEffect.READ
    assert effect_of(tool("frobnicate", title="Delete a report", read_only=True)) is not ToolEffect.READ


@pytest.mark.parametrize(
    "description",
    [
        "Gets a report. To delete one use delete_report.",
        "Returns the report without changing anything.",
        "Get a report. Use this before updating it.",
        "Lists deleted items, also those that were sent to the archive.",
        "Finds reports that were created, updated or closed since a date.",
        "Shows an issue. Does not modify it.",
        "Complete list of orders. Posts are left out.",
        "Orders of a customer, the newest first.",
        "Search messages sent by a person.",
        "Get the steps that create, update and delete resources in a pipeline.",
        "Records of what was run.",
        "The content of a note. Read-only: nothing is written.",
        "",
        "Gets the fields needed to create an issue.",
        "Returns whether a user can edit, share or delete the file.",
        "Perform a search. Results are sorted by date and truncated to ten.",
    ],
)
def test_a_read_may_name_what_others_change_and_what_it_leaves_alone(description: str) -> None:
    assert effect_of(tool("get_report", description=description)) is ToolEffect.READ


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "parameters",
    [
        {"sql": {"type": "string"}},
        {"command": {"type": "string"}},
        {"shellCommand": {}, "cmd": {}},
        {"to": {"type": "string"}, "name": {}},
        {"from": {}, "to": {}, "body": {}},
        {"force": {"type": "boolean"}},
        {"dryRun": {"type": "boolean"}},
        {"method": {"enum": ["GET", "POST"]}},
        {"method": {"type": "string"}, "url": {}},
        {"action": {"enum": ["list", "delete"]}},
        {"delete_after_reading": {"type": "boolean"}},
        {"markAsRead": {}, "sendReceipt": {}},
        {"recipients": {"type": "array"}},
        {"responseFilePath": {"description": "The path to save the body to; left out, it is returned."}},
    ],
)
def test_a_parameter_that_a_read_has_no_use_for_counts(parameters: dict[str, object]) -> None:
    assert effect_of(tool("get_report", input_schema=schema(**parameters))) is not ToolEffect.READ
    assert effect_of(tool("get_report", input_schema=schema(**parameters), read_only=True)) is ToolEffect.READ


@pytest.mark.parametrize(
    "parameters",
    [
        {"from": {}, "to": {}},
        {"query": {}, "limit": {}, "order_by": {}, "updated_since": {}},
        {"method": {"enum": ["get", "get_comments", "list_labels"]}},
        {"path": {"description": "The file to read, in the folder to look in."}},
        {"set": {}, "created_after": {}, "post_id": {}, "record_type": {}},
        {},
    ],
)
def test_a_parameter_of_a_read_does_not_count(parameters: dict[str, object]) -> None:
    assert effect_of(tool("get_report", input_schema=schema(**parameters))) is ToolEffect.READ


def test_a_schema_of_another_shape_says_nothing() -> None:
    shapes: tuple[dict[str, object], ...] = (
        {"properties": []},
        {"properties": {"a": []}},
        {"properties": None},
    )
    for odd in shapes:
        assert effect_of(tool("frobnicate", input_schema=odd)) is ToolEffect.UPDATE
        assert effect_of(tool("get_report", input_schema=odd)) is ToolEffect.READ


def test_a_long_description_is_judged_in_full_and_soon() -> None:
    long = "A line about reports. " * 900
    assert effect_of(tool("get_report", description=long + "It deletes the file.")) is not ToolEffect.READ
    assert effect_of(tool("get_report", description="(" * 20_000)) is ToolEffect.READ


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("search_tickets", ToolEffect.READ),
        ("getCurrentTime", ToolEffect.READ),
        ("m365.calendar_check_availability", ToolEffect.UPDATE),
        ("list-posts", ToolEffect.READ),
        ("get_post", ToolEffect.READ),
        ("read_draft", ToolEffect.READ),
        ("HTTPGet", ToolEffect.READ),
        ("create_issue", ToolEffect.CREATE),
        ("get_or_create_issue", ToolEffect.CREATE),
        ("find_and_post", ToolEffect.SEND),
        ("search_and_replace", ToolEffect.UPDATE),
        ("post_message", ToolEffect.SEND),
        ("m365.teams_post_message", ToolEffect.SEND),
        ("sendMail", ToolEffect.SEND),
        ("updateEvent", ToolEffect.UPDATE),
        ("files.delete", ToolEffect.DELETE),
        ("list_then_delete_all", ToolEffect.DELETE),
        ("frobnicate", ToolEffect.UPDATE),
        ("", ToolEffect.UPDATE),
    ],
)
def test_a_name_says_what_kind_of_call_it_is(name: str, effect: ToolEffect) -> None:
    assert effect_of(tool(name)) is effect


@pytest.mark.parametrize("name", ["create_issue", "delete_file", "sendMail", "post_message", "update"])
def test_a_hint_never_makes_a_read_of_what_its_name_says_writes(name: str) -> None:
    assert effect_of(tool(name, read_only=True)) is effect_of(tool(name))
    assert effect_of(tool(name, read_only=True, destructive=False)) is not ToolEffect.READ


def test_a_hint_decides_where_the_name_says_nothing_and_can_make_it_graver() -> None:
    assert effect_of(tool("frobnicate", read_only=True)) is ToolEffect.READ
    assert effect_of(tool("get_report", read_only=False)) is ToolEffect.UPDATE
    assert effect_of(tool("get_report", destructive=True)) is ToolEffect.DELETE
    assert effect_of(tool("get_report", destructive=True, read_only=True)) is ToolEffect.UPDATE
