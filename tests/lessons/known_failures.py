"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 20
"""How many of the thirty meet every expectation."""

FOUND = 0.9
"""The share of the requests in other words that find their ability."""

REFUSED = 0.95
"""The share of the near misses that do not."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key” (it is "
            "about something else: “order”, “common”, “key”)"
        ),
    },
    "report_differences_of_trees": {
        Aspect.FINDS: (
            "not found: “list changes between two release folders” (its words are there, but it means "
            "other work: “compare”)"
        ),
    },
    "number_scanned_pages": {
        Aspect.FINDS: (
            "not found: “number the pages of a scanned document consecutively” (read together with "
            "“Rename the scanned pages to lease-001.tif and so on in the order of their scan; keep a "
            "list.”, it asks for other work)"
        ),
    },
    "value_per_supplier_by_sqlite": {
        Aspect.FINDS: (
            "not found: “how much did each supplier bring to one warehouse this month” (“how much” is "
            "not what it does); “totals by supplier out of the deliveries table” (“totals” is not what "
            "it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “import the suppliers into the address book” (“import” is what it does, it is about"
            " “suppliers”)"
        ),
    },
    "tag_a_release": {
        Aspect.NEAR_MISSES: (
            "found: “go back to the version before the last release” (what is to be done is not said in"
            " a known verb, it is about “version”, “release”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “how many hours did each group work in a month” (its words are there, but it "
            "means other work: “count”)"
        ),
    },
    "tables_from_a_zip": {
        Aspect.FINDS: (
            "not found: “get the csv files out of the zip without the pictures” (read together with "
            "“Check the delivered zip, take only the shops' CSV tables out of it and count the rows of "
            "each.”, it asks for other work)"
        ),
    },
    "orders_from_json_to_csv": {
        Aspect.FINDS: (
            "not found: “turn the web shop export into a table of orders with one status” (read "
            "together with “From the shop's JSON export make a CSV list of the paid orders with totals,"
            " largest first.”, it asks for other work)"
        ),
    },
    "merge_with_the_branchs_prices": {
        Aspect.NEAR_MISSES: (
            "found: “create a branch for the new prices and change the settings there” (read together "
            "with “Merge the branch prices; where the settings conflict, the branch's lines win; commit"
            " the merge.”, it asks for this work)"
        ),
    },
    "apply_a_patch_and_test": {
        Aspect.NEAR_MISSES: (
            "found: “create a patch file from my changes in the folder” (means nearly the same as "
            "“Apply the patch that lies in the folder”)"
        ),
    },
}
