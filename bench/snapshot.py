"""Times what one changed ability costs the availability snapshot of many, beside serialising the snapshot, in one run.

Usage: ``python -m bench.snapshot [--abilities N] [--rounds N]``. Prints one JSON object. Ours takes one ability into
the parts of snapshot and catalog and commits; the floor turns a snapshot that is ready into the bytes of its file.
``ratio`` is the median of ours / floor, ``rebuild_ratio`` that of reading every ability's row and writing all parts
anew, as maintenance does.
"""

import argparse
import json
import statistics
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from sqlalchemy import insert

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilitySnapshot,
    AbilitySource,
    InstallLane,
)
from contracts.base import rfc3339
from stores.abilities.derived_files import refresh_snapshot, update_snapshot
from stores.platform.canonical import canonical_json, document_bytes
from stores.platform.database import Database
from stores.platform.tables import abilities, metadata


def entry_of(number: int) -> AbilityAvailabilityEntry:
    """One installed ability."""
    return AbilityAvailabilityEntry(
        ability_id=f"learned.report-{number}",
        owner_user_id="admin",
        title=f"Export the report of region {number}",
        family="terminal",
        source=AbilitySource.LEARNED,
        skill_slug=f"report-{number}",
        primary_capability_id=f"learned.report-{number}",
        install_lane=InstallLane.APPROVED_WORKSPACE,
        enabled=True,
        usable_now=True,
        trigger_phrases=(
            f"export report {number}",
            f"write the report of region {number}",
            "make the report",
        ),
        negative_triggers=("delete the report",),
    )


def measure(count: int, rounds: int) -> dict[str, float]:
    """Medians over the rounds; the two take turns in going first."""
    with tempfile.TemporaryDirectory() as name:
        database = Database(f"sqlite:///{Path(name) / 'bench.db'}")
        metadata.create_all(database.engine)
        entries = [entry_of(number) for number in range(count)]
        now = rfc3339(datetime.now(UTC))
        with database.write() as connection:
            connection.execute(
                insert(abilities),
                [
                    {
                        "ability_id": entry.ability_id,
                        "owner": entry.owner_user_id,
                        "slug": entry.skill_slug,
                        "lane": entry.install_lane.value,
                        "version": 1,
                        "created_at": now,
                        "updated_at": now,
                        "body": canonical_json(entry),
                    }
                    for entry in entries
                ],
            )
        snapshot = AbilityAvailabilitySnapshot(abilities=tuple(entries), snapshot_as_of=datetime.now(UTC))

        def ours() -> None:
            with database.write() as connection:
                update_snapshot(connection, datetime.now(UTC), entries[count // 2].ability_id)

        def rebuild() -> None:
            with database.write() as connection:
                refresh_snapshot(connection, datetime.now(UTC))

        def floor() -> None:
            document_bytes(snapshot)

        sides = {"floor": floor, "ours": ours, "rebuild": rebuild}
        taken: dict[str, list[float]] = {name: [] for name in sides}
        rebuild()
        for number in range(rounds + 1):
            for side in sorted(sides, reverse=number % 2 == 0):
                began = perf_counter()
                sides[side]()
                if number:  # the first round warms up
                    taken[side].append(perf_counter() - began)
        database.close()
    medians = {side: statistics.median(found) for side, found in taken.items()}
    return {
        "abilities": count,
        **{f"{side}_ms": round(seconds * 1000, 1) for side, seconds in medians.items()},
        "ratio": round(medians["ours"] / medians["floor"], 3),
        "rebuild_ratio": round(medians["rebuild"] / medians["floor"], 3),
    }


def main() -> None:
    """Runs the rounds and prints the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--abilities", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(json.dumps(measure(options.abilities, options.rounds), indent=2))


if __name__ == "__main__":
    main()
