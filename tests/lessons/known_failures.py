"""Lessons that are known to fail: which of their expectations are not met, and why.

The list is true: what is not in it is met, and what is in it is not. ``docs/lessons.md`` shows it.
"""

from collections.abc import Mapping

from tests.lessons.verdicts import Aspect

PASSED = 2
"""How many of the thirty meet every expectation."""

FOUND = 0.54
"""The share of the requests in other words that find their ability."""

REFUSED = 0.86
"""The share of the near misses that do not."""

KNOWN_FAILURES: Mapping[str, Mapping[Aspect, str]] = {
    "most_frequent_errors": {
        Aspect.FINDS: (
            "not found: “rank the failures in the application log by how many times they happened” (it "
            "is about something else: “application”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “list the latest errors of the log by time” (“list” is what it does, it is about "
            "“errors”, “log”)"
        ),
    },
    "join_jobs_to_customers": {
        Aspect.FINDS: (
            "not found: “merge the order table with the customer table on their common key” (it is "
            "about something else: “order”, “common”, “key”); “combine two csv files by customer id "
            "keeping those without orders” (it is about something else: “two”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “separate the jobs of each customer into files” (it names no work, it is about "
            "“jobs”, “customer”)"
        ),
    },
    "split_sales_by_region": {
        Aspect.FINDS: (
            "not found: “one csv file for every sales region, keep the header line” (“keep” is not what"
            " it does)"
        ),
    },
    "dated_backup_of_records": {
        Aspect.FINDS: (
            "not found: “save a copy of the folder for this day, temporary files left out” (it is about"
            " something else: “temporary”, “files”, “left”)"
        ),
    },
    "list_duplicate_photos": {
        Aspect.NEAR_MISSES: (
            "found: “check the photos against a list of checksums” (“check” is near to what it does, it"
            " is about “photos”, “checksums”); “find photos that were changed this week” (“find” is "
            "what it does, it is about “photos”)"
        ),
    },
    "report_differences_of_trees": {
        Aspect.FINDS: (
            "not found: “compare two directories and write down the differing files” (“compare” is near"
            " to what it does, and little else is said of it); “which files are new, gone or different "
            "in the next version of the tree” (it is about something else: “files”, “gone”, “version”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “report the releases that have no log” (“report” is what it does, it is about “releases”)"
        ),
    },
    "number_scanned_pages": {
        Aspect.FINDS: (
            "not found: “give the scans running numbers with leading zeros” (“give” is not what it does)"
        ),
    },
    "shrink_pictures": {
        Aspect.NEAR_MISSES: (
            "found: “list the pictures that are wider than they are high” (“list” is a part of what it "
            "does, it is about “pictures”)"
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
    "add_missing_make_rule": {
        Aspect.FINDS: (
            "not found: “fix 'no rule to make target' for an object file” (it is about something else: "
            "“'no”); “the makefile does not know how to build one object, repair it and run the tool” "
            "(it is about something else: “object”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “list the rules of the Makefile with their modules” (“list” is near to what it "
            "does, it is about “rules”, “makefile”)"
        ),
    },
    "report_in_virtual_environment": {
        Aspect.FINDS: (
            "not found: “set up a venv from the vendored package and run the script in it” (it is about"
            " something else: “vendored”)"
        ),
    },
    "repair_service_settings": {
        Aspect.FINDS: (
            "not found: “make the config check pass” (“make” leaves open what is done, and little else "
            "is said of it)"
        ),
    },
    "summary_function_over_files": {
        Aspect.FINDS: (
            "not found: “average and maximum water level per measuring point” (it is about something "
            "else: “maximum”, “water”); “go through all gauge files and write one line of statistics "
            "for each” (it is about something else: “line”, “statistics”); “evaluate the daily readings"
            " of every file in the folder into levels.csv” (“evaluate” is not named by it)"
        ),
        Aspect.NEAR_MISSES: "found: “enter a new reading for each station” (it names no work, it is about “reading”)",
    },
    "most_visited_pages": {
        Aspect.FINDS: (
            "not found: “ranking of the most requested addresses in the access logs of a month” (it is "
            "about something else: “requested”, “addresses”, “access”); “which pages of our site get "
            "the most hits” (“get” is not what it does); “count page views in the log files and keep "
            "the top ones” (it is about something else: “views”, “log”, “files”)"
        ),
    },
    "regional_report_by_variables": {
        Aspect.FINDS: (
            "not found: “I need the figures of one sales area for a given year as a text file” (it is "
            "about something else: “figures”, “area”)"
        ),
    },
    "due_dates_of_invoices": {
        Aspect.FINDS: (
            "not found: “compute payment deadlines for the list of bills” (“compute” is not what it "
            "does); “put a column with the date of maturity behind the invoice table” (it is about "
            "something else: “column”, “maturity”, “behind”)"
        ),
    },
    "sum_and_average_per_category": {
        Aspect.FINDS: (
            "not found: “how much was spent on each kind of cost, in total and on average” (it is about"
            " something else: “spent”, “kind”); “group the spending list by its second column and add "
            "up the amounts” (it is about something else: “list”)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “sort the expenses of the year by amount” (“sort” is near to what it does, it is "
            "about “expenses”, “year”)"
        ),
    },
    "letters_from_a_template": {
        Aspect.FINDS: (
            "not found: “mail merge: fill the placeholders of the template for every row” (it is about "
            "something else: “placeholders”)"
        ),
    },
    "manifest_with_totals": {
        Aspect.FINDS: (
            "not found: “list files, row count, kilograms and hashes of the deliveries in a text file” "
            "(“list” is not what it does)"
        ),
    },
    "rename_a_term_in_all_texts": {
        Aspect.FINDS: (
            "not found: “a room got a new name, put it everywhere in the documents” (it is about "
            "something else: “everywhere”, “documents”); “search and replace a word in every txt file "
            "of the folder” (it is about something else: “word”, “folder”)"
        ),
    },
    "permissions_of_scripts_and_data": {
        Aspect.FINDS: (
            "not found: “make the shell scripts executable and protect the measurements against "
            "changes” (it is about something else: “shell”); “correct the file modes in the project "
            "folder” (it is about something else: “file”, “project”); “chmod for all scripts in sub-"
            "folders and write-protect the files below one folder” (it is about something else: “sub”, "
            "“write”)"
        ),
    },
    "photos_by_year_and_month": {
        Aspect.FINDS: (
            "not found: “tidy up the jpg files: one sub-folder for each month” (“tidy up” is not what "
            "it does)"
        ),
    },
    "tables_from_a_zip": {
        Aspect.FINDS: (
            "not found: “unpack just the tables of the shops from the archive and say how many lines "
            "they have” (“unpack” is not what it does); “get the csv files out of the zip without the "
            "pictures” (“get” is not what it does)"
        ),
    },
    "orders_from_json_to_csv": {
        Aspect.FINDS: (
            "not found: “turn the web shop export into a table of orders with one status” (it is about "
            "something else: “web”); “filter and reshape the order data with jq, sorted by value” (it "
            "is about something else: “reshape”, “data”)"
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
            "not found: “combine two versions of the settings, the feature branch has priority” (it is "
            "about something else: “two”, “versions”); “git stopped with merge conflicts in the ini "
            "file, settle them and commit” (“settle” is not what it does)"
        ),
        Aspect.NEAR_MISSES: (
            "found: “create a branch for the new prices and change the settings there” (“create” leaves"
            " open what is done, it is about “branch”)"
        ),
    },
    "apply_a_patch_and_test": {
        Aspect.FINDS: (
            "not found: “put the correction from the diff file into the scripts and see whether the "
            "tests pass” (it is about something else: “correction”, “diff”)"
        ),
    },
}
