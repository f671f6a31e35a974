"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 25
"""How many of the thirty meet every expectation."""

FOUND = 0.9
"""The share of the requests in other words that find their ability."""

REFUSED = 0.95
"""The share of the near misses that do not."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key” (it is about "
            "something else: “order”, “common”, “key”)"
        ),
    },
    "number_scanned_pages": {
        Aspect.FINDS: (
            "not found: “give the scans running numbers with leading zeros” (read together with “Rename the "
            "scanned pages to lease-001.tif and so on in the order of their scan; keep a list.”, it asks for"
            " other work); “number the pages of a scanned document consecutively” (read together with "
            "“Rename the scanned pages to lease-001.tif and so on in the order of their scan; keep a list.”,"
            " it asks for other work)"
        ),
    },
    "value_per_supplier_by_sqlite": {
        Aspect.NEAR_MISSES: (
            "found: “list the warehouses of each supplier” (read together with “Load the deliveries into a "
            "database and export the value per supplier for the warehouse in Linz.”, it asks for this work);"
            " “import the suppliers into the address book” (“import” is what it does, it is about "
            "“suppliers”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “how many hours did each group work in a month” (its words are there, but it means "
            "other work: “count”)"
        ),
    },
    "apply_a_patch_and_test": {
        Aspect.NEAR_MISSES: (
            "found: “create a patch file from my changes in the folder” (means nearly the same as “Apply the"
            " patch that lies in the folder”)"
        ),
    },
}
