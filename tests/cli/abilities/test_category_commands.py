"""``apprentice categories`` against a whole running service."""

from cli.platform.output import ExitCode


def test_a_category_is_made_filled_renamed_emptied_and_deleted(person) -> None:
    made = person.gets("categories", "create", "Reports", "--color", "#2563EB")
    assert person.gets("categories", "list")["categories"] == [made]

    assert (
        person.types("categories", "assign", "Reports", "mail", "--kind", "automation").exit_code
        == ExitCode.OK
    )
    (item,) = person.gets("categories", "items", "Reports")["items"]
    assert (item["item_kind"], item["item_id"]) == ("automation", "mail")

    renamed = person.gets("categories", "change", "Reports", "--title", "Weekly")
    assert (renamed["title"], renamed["color"]) == ("Weekly", "#2563EB")

    assert (
        "not in Weekly"
        in person.types("categories", "remove", "Weekly", "mail", "--kind", "automation").stdout
    )
    assert person.gets("categories", "items", "Weekly")["items"] == []
    assert person.types("categories", "delete", "Weekly").exit_code == ExitCode.OK
    assert "categories create" in person.types("categories", "list").stdout


def test_a_category_that_is_not_there_is_said_with_what_to_do(person) -> None:
    result = person.types("categories", "items", "Nowhere")
    assert result.exit_code != ExitCode.OK
    assert "apprentice categories list" in result.stderr


def test_a_list_is_cut_sorted_and_searched_by_the_server(person) -> None:
    for title in ("Apples", "Bread", "Cheese"):
        person.gets("categories", "create", title)
    found = person.gets(
        "categories", "list", "--page", "2", "--page-size", "1", "--sort=-title", "--search", "e"
    )
    assert (found["total"], [one["title"] for one in found["categories"]]) == (3, ["Bread"])
    shown = person.types("categories", "list", "--page", "1", "--page-size", "2").stdout
    assert "3 in all; the next page: --page 2" in shown
    assert "Nothing matches." in person.types("categories", "list", "--search", "zzz").stdout
    assert "3 in all" in person.types("categories", "list", "--page", "9", "--page-size", "2").stdout
    refused = person.types("categories", "list", "--sort", "colour")
    assert refused.exit_code == ExitCode.REFUSED


def test_every_list_of_what_one_person_owns_takes_the_same_options(person) -> None:
    cut = ("--page", "1", "--page-size", "5", "--sort=-created_at", "--search", "a")
    for command in (("tokens",), ("mcp", "servers"), ("mcp", "profiles"), ("mcp", "grants")):
        assert (person.gets(*command, "list", *cut)["page"], command) == (1, command)
    assert person.gets("mcp", "pending", *cut)["page_size"] == 5
