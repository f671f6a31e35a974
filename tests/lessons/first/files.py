"""Lessons on many files: a dated backup, files that are there twice, what changed between two trees."""

import random
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lessons.first.folders import files_below, read, sha256, today, write
from tests.lessons.lesson import Lesson

# ---- a dated backup with a check of the archive


def _records(folder: Path, name: str, subjects: Sequence[str], seed: int) -> None:
    """Write a folder of files, some of them left over by an editor, and an older backup of it."""
    chance = random.Random(seed)
    for subject in subjects:
        for number in range(chance.randrange(2, 5)):
            lines = [f"{subject}, item {item}: {chance.randrange(1000)}\n" for item in range(12)]
            write(folder / name / subject / f"sheet {number + 1}.txt", "".join(lines))
        write(folder / name / subject / "sheet 1.txt.tmp", f"unfinished {subject}\n")
    write(folder / name / "contents.txt", "".join(f"{subject}\n" for subject in subjects))
    write(folder / "backups" / "how to.txt", "One archive for each day, and its sum beside it.\n")


def _records_before(folder: Path) -> None:
    _records(folder, "records", ("Heizung", "Wasser", "Dach und Türen"), 11)


def _records_after(folder: Path) -> None:
    _records(folder, "plans", ("floor 1", "floor 2", "Außenanlage", "cellar", "roof"), 12)
    _records(folder, "records", ("Heizung",), 13)


def _check_backup(folder: Path) -> None:
    made = [folder / "backups" / f"plans-{day}.tar.gz" for day in today()]
    archive = next((path for path in made if path.is_file()), None)
    assert archive is not None, "no archive of today"
    expected = {
        f"plans/{name}": path.read_bytes()
        for name, path in files_below(folder / "plans").items()
        if not name.endswith(".tmp")
    }
    packed: dict[str, bytes] = {}
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar.getmembers():
            if member.isfile():
                stream = tar.extractfile(member)
                assert stream is not None
                packed[member.name.removeprefix("./")] = stream.read()
    assert packed == expected
    line = read(archive.with_name(archive.name + ".sha256")).split()
    assert line == [sha256(archive), archive.name]


BACKUP = Lesson(
    name="dated_backup_of_records",
    goal="Back up the records into an archive with today's date in its name, without leftovers; check it",
    prepare=_records_before,
    typed=(
        "ls",
        "find records -type f | wc -l",
        "find records -name '*.tmp'",
        "cat 'backups/how to.txt'",
        "tar -cfz backups/records-$(date +%F).tar.gz --exclude='*.tmp' records",
        "ls",
        "rm z",
        "tar -czf backups/records-$(date +%F).tar.gz --exclude='*.tmp' records",
        "tar -tzf backups/records-$(date +%F).tar.gz | grep -vc '/$'",
        "tar -dzf backups/records-$(date +%F).tar.gz && echo same",
        "(cd backups && sha256sum records-$(date +%F).tar.gz > records-$(date +%F).tar.gz.sha256)",
        "(cd backups && sha256sum -c records-$(date +%F).tar.gz.sha256)",
        "ls -l backups",
    ),
    facts=(
        ("date +%F", "date of today", "current date", "YYYY-MM-DD"),
        ("--exclude='*.tmp'", "without the .tmp files", "leave out *.tmp", "except files ending in .tmp"),
        ("tar -czf", "compressed with gzip", "gzip-compressed", ".tar.gz"),
        ("tar -dzf", "tar -d", "compare the archive with the folder", "compare it with the files"),
        ("sha256sum -c", "check the sum", "verify the checksum"),
        ("cd backups", "inside backups", "name without the folder", "in the folder backups"),
    ),
    absent=("tar -cfz", "rm z", f"records-{today()[0]}"),
    parameters=("records",),
    finds=(
        "archive a directory as tar.gz with the current date",
        "make a backup of today and verify the archive with its checksum",
        "save a copy of the folder for this day, temporary files left out",
    ),
    near_misses=(
        "restore the folder of records from the backup of a date",
        "delete the backups that are older than a month",
        "check the dates in the records",
    ),
    other=_records_after,
    other_values={"records": "plans"},
    check=_check_backup,
)

# ---- files that are there more than once


def _pictures(path: Path, names: Mapping[str, int]) -> None:
    """Write files whose contents follow from a number: equal numbers are duplicates, 0 is empty."""
    for name, number in names.items():
        body = random.Random(number).randbytes(400 + number).hex()
        write(path / name, f"picture {number}\n{body}\n" if number else "")


def _photos(folder: Path) -> None:
    _pictures(
        folder / "photos",
        {
            "2023/bridge.jpg": 1,
            "2023/old town.jpg": 2,
            "2023/river.jpg": 3,
            "2023/thumbs/bridge.jpg": 21,
            "2024/Brücke (copy).jpg": 1,
            "2024/market.jpg": 4,
            "2024/market 2.jpg": 4,
            "2024/thumbs/market.jpg": 22,
            "2024/thumbs/market 2.jpg": 22,
            "inbox/IMG_0007.jpg": 5,
            "inbox/IMG_0008.jpg": 4,
            "inbox/empty.jpg": 0,
            "2023/unread.jpg": 0,
        },
    )


def _scans(folder: Path) -> None:
    _pictures(
        folder / "drawings",
        {
            "house/front.jpg": 31,
            "house/back.jpg": 32,
            "house/side.jpg": 33,
            "house/side again.jpg": 33,
            "garage/front.jpg": 34,
            "garage/house front.jpg": 31,
            "garage/thumbs/front.jpg": 41,
            "sent/2025/Rückseite.jpg": 32,
            "sent/2025/front.jpg": 31,
            "sent/2025/thumbs/front.jpg": 41,
            "sent/2024/front.jpg": 35,
            "sent/2024/lost.jpg": 0,
            "garage/lost.jpg": 0,
            "garage/roof.jpg": 36,
            "sent/plan.jpg": 37,
            "sent/plan thumbs.jpg": 37,
        },
    )
    _pictures(folder / "photos", {"bridge.jpg": 1, "bridge 2.jpg": 1})


def _check_duplicates(folder: Path) -> None:
    groups: dict[str, list[str]] = {}
    for name, path in files_below(folder / "drawings").items():
        if path.stat().st_size and "/thumbs/" not in name:
            groups.setdefault(sha256(path), []).append(f"drawings/{name}")
    expected = [
        "".join(f"{total}  {name}\n" for name in sorted(groups[total]))
        for total in sorted(groups)
        if len(groups[total]) > 1
    ]
    assert read(folder / "duplicates.txt").rstrip("\n").split("\n\n") == "\n".join(expected).rstrip(
        "\n"
    ).split("\n\n")


DUPLICATES = Lesson(
    name="list_duplicate_photos",
    goal="Find the photos that are there more than once, by their checksum, and list them in groups",
    prepare=_photos,
    typed=(
        "find photos -type f | wc -l",
        "ls -R photos | head -n 20",
        "find photos -type f | xargs sha256sum | sort | uniq -d",
        "find photos -type f -print0 | xargs -0 sha256sum | sort | uniq -w64 --all-repeated=separate",
        "find photos -type f ! -empty ! -path '*/thumbs/*' -print0 | xargs -0 sha256sum | LC_ALL=C sort | "
        "uniq -w64 --all-repeated=separate > duplicates.txt",
        "cat duplicates.txt",
        "grep -c . duplicates.txt",
    ),
    facts=(
        ("sha256sum", "SHA-256"),
        ("-w64", "first 64 characters", "compare only the sum", "by the sum alone"),
        ("--all-repeated=separate", "groups separated by an empty line", "empty line between the groups"),
        ("! -empty", "empty files are left out", "without empty files", "not empty", "non-empty"),
        ("*/thumbs/*", "without the thumbnails", "leave out the folders thumbs"),
        ("-print0", "xargs -0", "names with blanks", "null-separated"),
        ("duplicates.txt",),
    ),
    absent=("uniq -d", "xargs sha256sum", "head -n 20"),
    parameters=("photos",),
    finds=(
        "which images are identical copies of each other",
        "detect double files in a folder using sha256",
        "report identical pictures by content",
    ),
    near_misses=(
        "delete the duplicate photos",
        "check the photos against a list of checksums",
        "find photos that were changed this week",
    ),
    other=_scans,
    other_values={"photos": "drawings"},
    check=_check_duplicates,
)

# ---- what changed between two trees

RELEASE_12 = {
    "bin/start.sh": "start 1.2\n",
    "conf/main.ini": "port = 80\n",
    "conf/limits.ini": "rows = 100\n",
    "docs/user guide.txt": "first\n",
    "docs/old notes.txt": "old\n",
    "lib/core.txt": "core\n",
    "lib/legacy/a.txt": "a\n",
    "lib/legacy/b.txt": "b\n",
    "logs/run.log": "12\n",
    "run.log": "1\n",
}
RELEASE_13 = {
    "bin/start.sh": "start 1.3\n",
    "bin/stop.sh": "stop\n",
    "conf/main.ini": "port = 80\n",
    "conf/limits.ini": "rows = 200\n",
    "docs/user guide.txt": "second\n",
    "docs/Änderungen.txt": "new\n",
    "lib/core.txt": "core\n",
    "lib/extra/c.txt": "c\n",
    "logs/run.log": "13\n",
    "bin/stop.log": "x\n",
}
RELEASE_14 = {
    "bin/start.sh": "start 1.3\n",
    "conf/main.ini": "port = 443\n",
    "conf/limits.ini": "rows = 200\n",
    "conf/roles.ini": "reader\n",
    "docs/user guide.txt": "third\n",
    "docs/Änderungen.txt": "newer\n",
    "docs/admin guide.txt": "one\n",
    "lib/core.txt": "core 2\n",
    "logs/run.log": "14\n",
    "tools/check/it.txt": "it\n",
    "logs/error.log": "none\n",
    "lib/extra/c.txt": "c\n",
}


def _trees(folder: Path, trees: Mapping[str, Mapping[str, str]]) -> None:
    for tree, files in trees.items():
        for name, text in files.items():
            write(folder / tree / name, text)


def _trees_before(folder: Path) -> None:
    _trees(folder, {"release-1.2": RELEASE_12, "release-1.3": RELEASE_13})


def _trees_after(folder: Path) -> None:
    _trees(folder, {"release-1.2": RELEASE_12, "release-1.3": RELEASE_13, "release-1.4": RELEASE_14})


def _only_in(tree: Path, against: Path) -> list[str]:
    """What is only in one of the trees; a folder stands for all that is in it."""
    found: list[str] = []
    for path in sorted(tree.rglob("*")):
        inner = path.relative_to(tree)
        if path.suffix != ".log" and not (against / inner).exists() and (against / inner.parent).exists():
            found.append(inner.as_posix())
    return found


def _check_changes(folder: Path) -> None:
    old, new = folder / "release-1.3", folder / "release-1.4"
    lines = [f"removed {name}" for name in _only_in(old, new)] + [
        f"added {name}" for name in _only_in(new, old)
    ]
    for name, path in files_below(old).items():
        if (
            path.suffix != ".log"
            and (new / name).is_file()
            and path.read_bytes() != (new / name).read_bytes()
        ):
            lines.append(f"changed {name}")
    kinds = [sum(line.startswith(kind) for line in lines) for kind in ("added", "removed", "changed")]
    total = "total: {} added, {} removed, {} changed".format(*kinds)
    assert read(folder / "changes.txt").splitlines() == [*sorted(lines), total]


CHANGES = Lesson(
    name="report_differences_of_trees",
    goal="Report what was added, removed and changed between two releases, without their logs",
    prepare=_trees_before,
    typed=(
        "ls release-*",
        "diff -r release-1.2 release-1.3 | head -n 12",
        "dif -rq release-1.2 release-1.3",
        "diff -rq release-1.2 release-1.3",
        "diff -rq -x '*.log' release-1.2 release-1.3",
        """report() {
  sed -E -e "s#^Only in $1(/([^:]*))?: #removed \\2/#" -e "s#^Only in $2(/([^:]*))?: #added \\2/#" \\
    -e "s#^Files $1/(.*) and .* differ\\$#changed \\1#" -e 's#^(removed|added) /#\\1 #'
}""",
        "diff -rq -x '*.log' release-1.2 release-1.3 | report release-1.2 release-1.3 | "
        "LC_ALL=C sort > changes.txt",
        "cat changes.txt",
        """awk '{ n[$1]++ }
END { printf "total: %d added, %d removed, %d changed\\n", n["added"], n["removed"], n["changed"] }
' changes.txt >> changes.txt""",
        "tail -n 3 changes.txt",
    ),
    facts=(
        ("diff -rq", "diff --recursive --brief", "only the names of the files that differ"),
        ("-x '*.log'", "leave out *.log", "except the .log files", "ignoring logs"),
        ("^Only in $1", "only in the first", "only in the old", "missing in the second"),
        ("^Only in $2", "only in the second", "only in the new", "missing in the first"),
        ("LC_ALL=C sort", "sorted by", "sort the lines", "sorted lines", "in byte order"),
        ("total: %d added, %d removed, %d changed", "line of totals", "last line with the totals"),
        ("changes.txt",),
    ),
    absent=("dif -rq", "head -n 12", "tail -n 3"),
    parameters=("release-1.2", "release-1.3"),
    finds=(
        "compare two directories and write down the differing files",
        "which files are new, gone or different in the next version of the tree",
        "list changes between two release folders",
    ),
    near_misses=(
        "copy the changed files from one release into the other",
        "report the releases that have no log",
        "remove the release which was added last",
    ),
    other=_trees_after,
    other_values={"release-1.2": "release-1.3", "release-1.3": "release-1.4"},
    check=_check_changes,
)

LESSONS = (BACKUP, DUPLICATES, CHANGES)
