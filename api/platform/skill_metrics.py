"""The metrics of skills as Prometheus reads them: four series a skill, named by its function (CH-64)."""

import re
from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from domain.skills.call_metrics import (
    BUCKET,
    CALLS,
    DURATION_BOUNDS_MS,
    DURATION_MS,
    ERROR,
    RETRIES,
    SUCCESSES,
)
from stores.skills.reports.call_metrics import SkillCounts

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")


class SkillMetrics(Collector):
    """Reads the counts from the store at each scrape, so that every process of the API tells the same."""

    def __init__(self, counts: SkillCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """The series of every skill that was ever called."""
        for function, counts in self._counts.all().items():
            yield from _series(f"apprentice_skill_{_NO_NAME.sub('_', function)}", function, counts)


def _series(prefix: str, function: str, counts: Mapping[str, int]) -> Iterator[Metric]:
    calls = counts.get(CALLS, 0)
    buckets, below = list[tuple[str, float]](), 0
    for bound in DURATION_BOUNDS_MS:
        below += counts.get(f"{BUCKET}{bound}", 0)
        buckets.append((str(float(bound)), below))
    duration = HistogramMetricFamily(f"{prefix}_duration_ms", f"Milliseconds that calls of {function} took.")
    duration.add_metric([], [*buckets, ("+Inf", calls)], sum_value=counts.get(DURATION_MS, 0))
    yield duration
    errors = CounterMetricFamily(
        f"{prefix}_errors", f"Calls of {function} that failed or were refused.", labels=["error_code"]
    )
    for name, value in counts.items():
        if name.startswith(ERROR):
            errors.add_metric([name.removeprefix(ERROR)], value)
    yield errors
    yield CounterMetricFamily(
        f"{prefix}_retries", f"Attempts of {function} after the first.", value=counts.get(RETRIES, 0)
    )
    rate = GaugeMetricFamily(f"{prefix}_success_rate", f"Share of the calls of {function} that succeeded.")
    rate.add_metric([], counts.get(SUCCESSES, 0) / calls if calls else 1.0)
    yield rate
