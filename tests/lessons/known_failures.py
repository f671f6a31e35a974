"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 26
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
    "value_per_supplier_by_sqlite": {
        Aspect.FINDS: (
            "not found: “how much did each supplier bring to one warehouse this month” (read together with “Load "
            "the deliveries into a database and export the value per supplier for the warehouse in Linz.”, it "
            "asks for other work); “totals by supplier out of the deliveries table” (“totals” is not what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “import the suppliers into the address book” (“import” is what it does, it is about “suppliers”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “how many hours did each group work in a month” (its words are there, but it means other "
            "work: “count”)"
        ),
    },
    "tables_from_a_zip": {
        Aspect.FINDS: (
            "not found: “unpack just the tables of the shops from the archive and say how many lines they have” "
            "(read together with “Check the delivered zip, take only the shops' CSV tables out of it and count "
            "the rows of each.”, it asks for other work)"
        ),
    },
}
