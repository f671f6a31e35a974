"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 9
"""How many of the thirty meet every expectation."""

FOUND = 0.77
"""The share of the requests in other words that find their ability."""

REFUSED = 0.86
"""The share of the near misses that do not."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "most_frequent_errors": {
        Aspect.NEAR_MISSES: (
            "found: “list the latest errors of the log by time” (“list” is what it does, it is about "
            "“errors”, “log”)"
        ),
    },
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key” (it is about "
            "something else: “order”, “common”, “key”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “separate the jobs of each customer into files” (it names no work, it is about “jobs”,"
            " “customer”)"
        ),
    },
    "split_sales_by_region": {
        Aspect.FINDS: (
            "not found: “one csv file for every sales region, keep the header line” (“keep” is not what it"
            " does)"
        ),
    },
    "list_duplicate_photos": {
        Aspect.NEAR_MISSES: (
            "found: “check the photos against a list of checksums” (“check” is near to what it does, it is"
            " about “photos”, “checksums”); “find photos that were changed this week” (“find” is what it "
            "does, it is about “photos”)"
        ),
    },
    "report_differences_of_trees": {
        Aspect.FINDS: (
            "not found: “compare two directories and write down the differing files” (“compare” is near to"
            " what it does, and little else is said of it)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “report the releases that have no log” (“report” is what it does, it is about “releases”)"
        ),
    },
    "value_per_supplier_by_sqlite": {
        Aspect.FINDS: (
            "not found: “totals by supplier out of the deliveries table” (“totals” is not what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “import the suppliers into the address book” (“import” is what it does, it is about "
            "“suppliers”)"
        ),
    },
    "tag_a_release": {
        Aspect.NEAR_MISSES: (
            "found: “go back to the version before the last release” (what is to be done is not said in a "
            "known verb, it is about “version”, “release”)"
        ),
    },
    "add_missing_make_rule": {
        Aspect.FINDS: (
            "not found: “the makefile does not know how to build one object, repair it and run the tool” "
            "(it is about something else: “object”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “list the rules of the Makefile with their modules” (“list” is near to what it does, "
            "it is about “rules”, “makefile”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “set up a venv from the vendored package and run the script in it” (it is about "
            "something else: “vendored”)"
        ),
    },
    "repair_service_settings": {
        Aspect.FINDS: (
            "not found: “make the config check pass” (“make” leaves open what is done, and little else is "
            "said of it); “correct an invalid json file with trailing commas and the wrong port” (its "
            "words are there, but it means other work: “verify”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “report which port the service uses” (means nearly the same as “repair the settings of"
            " the service, with port port, until their check passes; keep its report”)"
        ),
    },
    "summary_function_over_files": {
        Aspect.FINDS: (
            "not found: “go through all gauge files and write one line of statistics for each” (it is "
            "about something else: “line”, “statistics”); “evaluate the daily readings of every file in "
            "the folder into levels.csv” (“evaluate” is not named by it)"
        ),
    },
    "most_visited_pages": {
        Aspect.FINDS: (
            "not found: “count page views in the log files and keep the top ones” (it is about something "
            "else: “views”, “log”, “files”)"
        ),
    },
    "due_dates_of_invoices": {
        Aspect.FINDS: (
            "not found: “compute payment deadlines for the list of bills” (“compute” is not what it does)"
        ),
    },
    "manifest_with_totals": {
        Aspect.FINDS: (
            "not found: “list files, row count, kilograms and hashes of the deliveries in a text file” "
            "(“list” is not what it does)"
        ),
    },
    "rename_a_term_in_all_texts": {
        Aspect.NEAR_MISSES: (
            "found: “find out which text files mention the room” (means nearly the same as “make rooms.txt”)"
        ),
    },
    "permissions_of_scripts_and_data": {
        Aspect.FINDS: (
            "not found: “make the shell scripts executable and protect the measurements against changes” "
            "(it is about something else: “shell”); “correct the file modes in the project folder” (it is "
            "about something else: “file”, “project”); “chmod for all scripts in sub-folders and "
            "write-protect the files below one folder” (it is about something else: “sub”, “write”)"
        ),
    },
    "tables_from_a_zip": {
        Aspect.FINDS: (
            "not found: “unpack just the tables of the shops from the archive and say how many lines they "
            "have” (“unpack” is not what it does)"
        ),
    },
    "orders_from_json_to_csv": {
        Aspect.FINDS: (
            "not found: “turn the web shop export into a table of orders with one status” (it is about "
            "something else: “web”)"
        ),
    },
    "median_in_the_interpreter": {
        Aspect.FINDS: (
            "not found: “typical driving time of one depot” (it is about something else: “typical”, "
            "“driving”)"
        ),
    },
    "merge_with_the_branchs_prices": {
        Aspect.FINDS: (
            "not found: “git stopped with merge conflicts in the ini file, settle them and commit” "
            "(“settle” is not what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “create a branch for the new prices and change the settings there” (“create” leaves "
            "open what is done, it is about “branch”)"
        ),
    },
    "apply_a_patch_and_test": {
        Aspect.NEAR_MISSES: (
            "found: “create a patch file from my changes in the folder” (means nearly the same as “Apply "
            "the patch that lies in the folder”)"
        ),
    },
}
