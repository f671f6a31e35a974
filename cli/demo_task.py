"""The task that the demo demonstrates: a small piece of real office work, typed as a person would type it."""

import shutil
from collections.abc import Sequence

GOAL = "Summarise the sales by region and pack them with a checksum"

LOOKUPS = ("summarise sales by region", "give me a packed sales summary with its checksum")
"""What somebody who never saw the demonstration might ask for; the first is the one that must be found."""

MISTYPED = "sotr"
"""The slip in the demonstration, which must not become part of the ability."""


def demonstrated_commands() -> tuple[str, ...]:
    """The commands in order; one is mistyped and two only look around: the ability must be free of them."""
    checksum = checksum_program()
    return (
        "mkdir -p sales-report",
        r"printf 'region,amount\nnorth,120\nsouth,80\nnorth,60\neast,40\nsouth,15\n'"
        " > sales-report/sales.csv",
        "ls sales-report",
        f"{MISTYPED} sales-report/sales.csv",
        "awk -F, 'NR > 1 { sum[$1] += $2 } END { for (r in sum) print r \",\" sum[r] }' "
        "sales-report/sales.csv | sort -t, -k2,2nr > sales-report/summary.csv",
        "cat sales-report/summary.csv",
        "tar -czf sales-report.tar.gz sales-report",
        f"{checksum} sales-report.tar.gz > sales-report.tar.gz.sha256",
        f"{checksum} -c sales-report.tar.gz.sha256",
    )


def checksum_program(programs: Sequence[str] = ("sha256sum", "shasum")) -> str:
    """The checksum command of this machine: Linux has ``sha256sum``, macOS has ``shasum``."""
    found = next((name for name in programs if shutil.which(name)), "sha256sum")
    return "shasum -a 256" if found == "shasum" else found
