"""What one call of a skill adds to its metrics (CH-64): counts by name, which are summed up over all calls."""

from collections.abc import Collection

from contracts.skills.errors import SKILL_ERRORS
from contracts.skills.invocation import ObservabilityRecord

DURATION_BOUNDS_MS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000)
"""The upper bounds of the histogram's buckets; what took longer is in none of them."""

CALLS, SUCCESSES, RETRIES, DURATION_MS = "calls", "successes", "retries", "duration_ms"
ERROR, BUCKET = "error:", "bucket:"

OTHER = "OTHER"
"""The label of codes that neither the documents nor the skill's manifest name: a handler may make up any number."""


def counts_of(record: ObservabilityRecord, declared: Collection[str] = ()) -> dict[str, int]:
    """What a call adds; ``declared`` are the codes that the skill's manifest names."""
    counts = {CALLS: 1, DURATION_MS: record.duration_ms}
    if record.success:
        counts[SUCCESSES] = 1
    if record.error_code is not None:
        known = record.error_code in SKILL_ERRORS or record.error_code in declared
        counts[ERROR + (record.error_code if known else OTHER)] = 1
    if record.retry_count:
        counts[RETRIES] = record.retry_count
    for bound in DURATION_BOUNDS_MS:
        if record.duration_ms <= bound:
            counts[f"{BUCKET}{bound}"] = 1
            break
    return counts
