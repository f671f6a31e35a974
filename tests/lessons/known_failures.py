"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 1
"""How many of the thirty meet every expectation."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "most_frequent_errors": {
        Aspect.FINDS: "not found: “rank the failures in the application log by how many times they happened”",
        Aspect.NEAR_MISSES: "found: “list the latest errors of the log by time” (yes)",
    },
    "markdown_pages_to_html": {
        Aspect.ABSENT: 'still there: `"\\\\&gt;"); gsub(/&/`',
    },
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key”; “combine "
            "two csv files by customer id keeping those without orders”"
        ),
        Aspect.NEAR_MISSES: "found: “separate the jobs of each customer into files” (maybe)",
    },
    "split_sales_by_region": {
        Aspect.FINDS: "not found: “one csv file for every sales region, keep the header line”",
    },
    "dated_backup_of_records": {
        Aspect.FACTS: "lost: `tar -dzf`; `sha256sum -c`",
        Aspect.FINDS: "not found: “save a copy of the folder for this day, temporary files left out”",
    },
    "list_duplicate_photos": {
        Aspect.NEAR_MISSES: (
            "found: “check the photos against a list of checksums” (maybe); “find photos that were "
            "changed this week” (yes)"
        ),
    },
    "report_differences_of_trees": {
        Aspect.INSTALLED: (
            "the replay does not end as the demonstration did, so that nothing is left out and the "
            "function `report`, which an earlier command defines, counts as a program that is not "
            "installed"
        ),
        Aspect.FACTS: "lost: `^Only in $1`; `^Only in $2`; `total: %d added, %d removed, %d changed`",
        Aspect.ABSENT: "still there: `head -n 12`",
        Aspect.PARAMETERS: "not installed",
        Aspect.FINDS: "not installed",
        Aspect.NEAR_MISSES: "not installed",
        Aspect.TRIAL: "not installed",
    },
    "number_scanned_pages": {
        Aspect.PARAMETERS: "not offered: `lease`, a part of the name `lease-%03d.tif` that printf forms",
        Aspect.FINDS: (
            "not found: “give the scans running numbers with leading zeros”; “number the pages of a "
            "scanned document consecutively”"
        ),
        Aspect.NEAR_MISSES: "found: “scan the pages of a lease again” (maybe)",
        Aspect.TRIAL: "the pages are named `lease-…` again, as no parameter stands for it",
    },
    "shrink_pictures": {
        Aspect.NEAR_MISSES: "found: “list the pictures that are wider than they are high” (maybe)",
    },
    "value_per_supplier_by_sqlite": {
        Aspect.FACTS: "what is typed at the prompt of sqlite3 is not recorded: every statement is lost",
        Aspect.PARAMETERS: (
            "not offered: `deliveries-04.csv` and `Linz`, which stand in what is typed at the prompt of"
            " sqlite3"
        ),
        Aspect.FINDS: (
            "not found: “how much did each supplier bring to one warehouse this month”; “totals by "
            "supplier out of the deliveries table”"
        ),
        Aspect.NEAR_MISSES: "found: “import the suppliers into the address book” (maybe)",
        Aspect.TRIAL: "what is typed at the prompt of sqlite3 is not recorded, so that there is no command to try",
    },
    "tag_a_release": {
        Aspect.TRIAL: (
            "the tag is called v1.4.0 again: the parameter for `1.4.0` does not stand for it within the"
            " word `v1.4.0`"
        ),
    },
    "add_missing_make_rule": {
        Aspect.FACTS: (
            "lost: `/^clean:/i`, the place of the new rule; what ed did is known as the difference that"
            " it made, not as what was typed"
        ),
        Aspect.PARAMETERS: "not offered: `table`, a part of names that stands in the text typed in ed",
        Aspect.FINDS: (
            "not found: “fix 'no rule to make target' for an object file”; “the makefile does not know "
            "how to build one object, repair it and run the tool”"
        ),
        Aspect.NEAR_MISSES: "found: “list the rules of the Makefile with their modules” (maybe)",
        Aspect.TRIAL: (
            "the difference that ed made in the demonstration is applied, with the rule of the "
            "demonstration's module"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: "not found: “set up a venv from the vendored package and run the script in it”",
    },
    "repair_service_settings": {
        Aspect.FACTS: (
            "lost: `^timeout\\|^retry` and `s/s$//`; what ed did is known as the difference that it "
            "made, not as what was typed"
        ),
        Aspect.PARAMETERS: (
            "not offered: `8443`, which was typed in ed, and `data/warehouse`, the replacement of a sed"
            " command"
        ),
        Aspect.FINDS: "not found: “make the config check pass”",
        Aspect.TRIAL: "the difference that ed made in the demonstration does not fit the other settings",
    },
    "summary_function_over_files": {
        Aspect.FINDS: (
            "not found: “average and maximum water level per measuring point”; “go through all gauge "
            "files and write one line of statistics for each”; “evaluate the daily readings of every "
            "file in the folder into levels.csv”"
        ),
    },
    "most_visited_pages": {
        Aspect.FINDS: (
            "not found: “ranking of the most requested addresses in the access logs of a month”; “which"
            " pages of our site get the most hits”; “count page views in the log files and keep the top"
            " ones”"
        ),
    },
    "regional_report_by_variables": {
        Aspect.FINDS: "not found: “I need the figures of one sales area for a given year as a text file”",
    },
    "due_dates_of_invoices": {
        Aspect.FINDS: (
            "not found: “compute payment deadlines for the list of bills”; “put a column with the date "
            "of maturity behind the invoice table”"
        ),
    },
    "sum_and_average_per_category": {
        Aspect.FINDS: "not found: “group the spending list by its second column and add up the amounts”",
    },
    "letters_from_a_template": {
        Aspect.FINDS: "not found: “mail merge: fill the placeholders of the template for every row”",
    },
    "manifest_with_totals": {
        Aspect.FINDS: "not found: “list files, row count, kilograms and hashes of the deliveries in a text file”",
    },
    "rename_a_term_in_all_texts": {
        Aspect.FINDS: (
            "not found: “a room got a new name, put it everywhere in the documents”; “search and "
            "replace a word in every txt file of the folder”"
        ),
    },
    "permissions_of_scripts_and_data": {
        Aspect.FINDS: (
            "not found: “make the shell scripts executable and protect the measurements against "
            "changes”; “correct the file modes in the project folder”; “chmod for all scripts in sub-"
            "folders and write-protect the files below one folder”"
        ),
    },
    "photos_by_year_and_month": {
        Aspect.FINDS: "not found: “tidy up the jpg files: one sub-folder for each month”",
    },
    "tables_from_a_zip": {
        Aspect.FACTS: "lost: `unzip -t`",
        Aspect.FINDS: (
            "not found: “unpack just the tables of the shops from the archive and say how many lines "
            "they have”; “get the csv files out of the zip without the pictures”"
        ),
    },
    "orders_from_json_to_csv": {
        Aspect.FINDS: (
            "not found: “turn the web shop export into a table of orders with one status”; “filter and "
            "reshape the order data with jq, sorted by value”; “which customers have paid and how much,"
            " as comma-separated values”"
        ),
        Aspect.NEAR_MISSES: "found: “turn the CSV list of orders into JSON” (maybe)",
    },
    "median_in_the_interpreter": {
        Aspect.FACTS: (
            "what is typed at the prompt of python3 is not recorded: separator, filter and rounding are lost"
        ),
        Aspect.PARAMETERS: "not offered: `times.csv` and `east`, which stand in what is typed at the prompt of python3",
        Aspect.FINDS: "not found: “typical driving time of one depot”",
        Aspect.NEAR_MISSES: "found: “list the longest tours of each depot” (maybe)",
        Aspect.TRIAL: "what is typed at the prompt of python3 is not recorded, so that there is no command to try",
    },
    "merge_with_the_branchs_prices": {
        Aspect.FACTS: (
            "lost: `g/^>>>>>>> /d`; what ed did is known as the difference that it made, not as what "
            "was typed"
        ),
        Aspect.FINDS: (
            "not found: “combine two versions of the settings, the feature branch has priority”; “git "
            "stopped with merge conflicts in the ini file, settle them and commit”"
        ),
        Aspect.NEAR_MISSES: "found: “create a branch for the new prices and change the settings there” (maybe)",
        Aspect.TRIAL: "the difference that ed made in the demonstration does not fit the other file",
    },
    "apply_a_patch_and_test": {
        Aspect.FINDS: (
            "not found: “put the correction from the diff file into the scripts and see whether the "
            "tests pass”"
        ),
    },
}
