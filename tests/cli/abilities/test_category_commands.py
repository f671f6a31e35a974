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
