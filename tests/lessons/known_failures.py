"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 17
"""How many of the thirty meet every expectation."""

FOUND = 0.85
"""The share of the requests in other words that find their ability."""

REFUSED = 0.94
"""The share of the near misses that do not."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key” (it is "
            "about something else: “order”, “common”, “key”)"
        ),
    },
    "list_duplicate_photos": {
        Aspect.FINDS: (
            "not found: “report identical pictures by content” (its words are there, but it means "
            "other work: “compare”)"
        ),
    },
    "report_differences_of_trees": {
        Aspect.FINDS: (
            "not found: “compare two directories and write down the differing files” (“compare” is "
            "near to what it does, and little else is said of it); “list changes between two release "
            "folders” (its words are there, but it means other work: “compare”)"
        ),
    },
    "value_per_supplier_by_sqlite": {
        Aspect.FINDS: (
            "not found: “how much did each supplier bring to one warehouse this month” (“how much” is"
            " not what it does); “totals by supplier out of the deliveries table” (“totals” is not "
            "what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “import the suppliers into the address book” (“import” is what it does, it is "
            "about “suppliers”)"
        ),
    },
    "tag_a_release": {
        Aspect.NEAR_MISSES: (
            "found: “go back to the version before the last release” (what is to be done is not said "
            "in a known verb, it is about “version”, “release”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “how many hours did each group work in a month” (its words are there, but it "
            "means other work: “count”)"
        ),
    },
    "repair_service_settings": {
        Aspect.FINDS: (
            "not found: “make the config check pass” (“make” leaves open what is done, and little "
            "else is said of it)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “report which port the service uses” (means nearly the same as “repair the "
            "settings of the service, with port port, until their check passes; keep its report”)"
        ),
    },
    "due_dates_of_invoices": {
        Aspect.FINDS: (
            "not found: “compute payment deadlines for the list of bills” (“compute” is not what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “send a reminder for each invoice that is overdue” (means nearly the same as “Add"
            " to each invoice of the list the day on which it is due”)"
        ),
    },
    "permissions_of_scripts_and_data": {
        Aspect.FINDS: (
            "not found: “correct the file modes in the project folder” (it is about something else: "
            "“file”, “project”)"
        ),
    },
    "photos_by_year_and_month": {
        Aspect.FINDS: (
            "not found: “sort the new images into yearly and monthly directories” (its words are "
            "there, but it means other work: “sort”)"
        ),
    },
    "tables_from_a_zip": {
        Aspect.FINDS: (
            "not found: “verify and open the monthly delivery archive” (its words are there, but it "
            "means other work: “show”)"
        ),
    },
    "merge_with_the_branchs_prices": {
        Aspect.FINDS: (
            "not found: “bring the branch into main and resolve the conflicts in the configuration” "
            "(its words are there, but it means other work: “fix”)"
        ),
    },
    "apply_a_patch_and_test": {
        Aspect.NEAR_MISSES: (
            "found: “create a patch file from my changes in the folder” (means nearly the same as "
            "“Apply the patch that lies in the folder”)"
        ),
    },
}
