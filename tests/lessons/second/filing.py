"""Lessons on files as such: permissions, photos sorted by month, an archive checked and unpacked in part."""

import hashlib
import io
import zipfile
from pathlib import Path

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import files_below, numbers, table, text_of, write


def _script(word: str) -> str:
    return f"#!/bin/sh\n# {word} the measurements.\nset -eu\necho {word.lower()} done\n"


def _plots(seed: int, count: int) -> str:
    values = numbers(seed, count, 120, 980)
    return table([("plot", "height_mm"), *((row + 1, value) for row, value in enumerate(values))])


_TRIAL: dict[str, tuple[str, int]] = {
    "README.md": ("# Field trial\n\nScripts in tools, measurements in data.\n", 0o644),
    "run.sh": (_script("Run"), 0o644),
    "publish.sh": (_script("Publish"), 0o777),
    "tools/clean.sh": (_script("Clean"), 0o600),
    "tools/plots/draw all.sh": (_script("Draw"), 0o644),
    "tools/settings.ini": ("[plots]\nwidth = 12\n", 0o644),
    "data/sites.csv": ("site,town\n1,Westbrook\n2,Lower Marsh\n", 0o664),
    "data/2024 spring/plot 1.csv": (_plots(1, 20), 0o755),
    "data/2024 spring/plot 2.csv": (_plots(2, 20), 0o644),
    "data/2024 autumn/plot 1.csv": (_plots(3, 24), 0o666),
    "data/2024 autumn/remarks.txt": ("Plot 1 was flooded in September.\n", 0o600),
}
_OTHER_TRIAL: dict[str, tuple[str, int]] = {
    "README.md": ("# Nursery\n\nOne folder per house.\n", 0o644),
    "start.sh": (_script("Start"), 0o600),
    "bin/collect.sh": (_script("Collect"), 0o644),
    "bin/nightly/jobs/check häuser.sh": (_script("Check"), 0o777),
    "bin/nightly/list.txt": ("collect\ncheck\n", 0o664),
    "readings/houses.csv": ("house,area\nA,120\nB,90\n", 0o777),
    "readings/house A/january.csv": (_plots(7, 31), 0o644),
    "readings/house A/february.csv": (_plots(8, 28), 0o755),
    "readings/house B/deep/march.csv": (_plots(9, 31), 0o600),
    "readings/house B/note": ("Sensor 3 replaced.\n", 0o666),
}


def _write_modes(folder: Path, files: dict[str, tuple[str, int]]) -> None:
    for name, (text, mode) in files.items():
        write(folder / name, text, mode)


def _prepare_permissions(folder: Path) -> None:
    _write_modes(folder, _TRIAL)


def _other_permissions(folder: Path) -> None:
    _write_modes(folder, _OTHER_TRIAL)


def _check_permissions(folder: Path) -> None:
    for name, (text, before) in _OTHER_TRIAL.items():
        expected = 0o750 if name.endswith(".sh") else 0o440 if name.startswith("readings/") else before
        mode = (folder / name).stat().st_mode & 0o777
        assert mode == expected, f"{name} has {mode:o} and not {expected:o}"
        assert text_of(folder / name) == text
    for path in folder.rglob("*"):
        assert not path.is_dir() or path.stat().st_mode & 0o700 == 0o700, path.name


PERMISSIONS = Lesson(
    name="permissions_of_scripts_and_data",
    goal="Set the permissions right: scripts can be run by us and the group, everything in data is read-only",
    prepare=_prepare_permissions,
    typed=(
        "ls -l",
        "ls -lR tools data",
        "chmod 750 *.sh",
        "find . -name '*.sh' ! -perm 750",
        "find . -name '*.sh' -exec chmod 750 {}",
        "find . -name '*.sh' -exec chmod 750 {} +",
        "find daat -type f -exec chmod 440 {} +",
        "find data -type f -exec chmod 440 {} +",
        "find . -name '*.sh' ! -perm 750",
        "find data -type f ! -perm 440",
        "ls -lR tools data",
    ),
    facts=(
        ("*.sh", "shell scripts"),
        ("750", "rwxr-x---"),
        ("440", "r--r-----"),
        ("-type f", "only files", "files, not folders"),
        ("find . -name", "in all sub-folders", "recursively"),
    ),
    absent=("daat",),
    parameters=("data",),
    finds=(
        "make the shell scripts executable and protect the measurements against changes",
        "correct the file modes in the project folder",
        "chmod for all scripts in sub-folders and write-protect the files below one folder",
    ),
    near_misses=(
        "run all scripts in the folder over the data",
        "find the files which nobody is allowed to read",
        "delete the data that the scripts have written",
    ),
    other=_other_permissions,
    other_values={"data": "readings"},
    check=_check_permissions,
)


def _photos(stamps: tuple[str, ...]) -> dict[str, bytes]:
    return {
        f"IMG_{stamp}.jpg": b"\xff\xd8\xff\xe0" + hashlib.sha256(stamp.encode()).digest() for stamp in stamps
    }


_INBOX = {
    **_photos(
        ("20231224_181502", "20231224_181502 (2)", "20231231_235811", "20240106_101245", "20240517_143022")
    ),
    **_photos(("20240517_143107", "20240530_090001", "20241003_121314", "20250112_160544")),
    "VID_20240517_143200.mp4": b"\x00\x00\x00\x18ftypmp42",
    "shopping list.txt": b"film, batteries\n",
}
_CAMERA = {
    **_photos(
        ("20220701_084455", "20220714_200000 Café", "20221130_070809", "20240229_120000", "20240229_120001")
    ),
    **_photos(
        ("20240301_000001", "20240808_171615", "20240819_101010", "20250401_133000", "20250402_133000")
    ),
    **_photos(("20250430_235959", "20250430_235959 (2)", "20250430_235959 (3)")),
    "VID_20250401_133100.mp4": b"\x00\x00\x00\x18ftypmp42",
    "VID_20220701_084500.mp4": b"\x00\x00\x00\x18ftypisom",
    "index.csv": b"photo,place\n",
}


_FILED = {
    "2024/02/IMG_20240202_110000.jpg": b"\xff\xd8\xff\xe0 February",
    "2024/02/IMG_20240229_120000.jpg": b"\xff\xd8\xff\xe0 improved by hand",
}


def _prepare_photos(folder: Path) -> None:
    (folder / "inbox").mkdir(parents=True)
    for name, content in _INBOX.items():
        (folder / "inbox" / name).write_bytes(content)
    (folder / "photos" / "2023" / "11").mkdir(parents=True)
    (folder / "photos" / "2023" / "11" / "IMG_20231105_150000.jpg").write_bytes(b"\xff\xd8\xff\xe0 November")


def _other_photos(folder: Path) -> None:
    (folder / "camera").mkdir(parents=True)
    for name, content in _CAMERA.items():
        (folder / "camera" / name).write_bytes(content)
    (folder / "photos" / "2024" / "02").mkdir(parents=True)
    for name, content in _FILED.items():
        (folder / "photos" / name).write_bytes(content)


def _check_photos(folder: Path) -> None:
    left = ["IMG_20240229_120000.jpg", *(name for name in _CAMERA if not name.startswith("IMG_"))]
    moved = {name: content for name, content in _CAMERA.items() if name not in left}
    expected = {**_FILED, **{f"{name[4:8]}/{name[8:10]}/{name}": content for name, content in moved.items()}}
    assert files_below(folder / "photos") == sorted(expected)
    for name, content in expected.items():
        assert (folder / "photos" / name).read_bytes() == content
    assert files_below(folder / "camera") == sorted(left)
    assert (folder / "camera" / left[0]).read_bytes() == _CAMERA[left[0]]


PHOTOS = Lesson(
    name="photos_by_year_and_month",
    goal="Move the photos from the inbox into photos, a folder per year and month, taken from their names",
    prepare=_prepare_photos,
    typed=(
        "ls",
        "ls inbox",
        "find photos",
        "for photo in inbox/IMG_*.jpg; do\n"
        '  name=$(basename "$photo")\n'
        '  echo "${name:4:4} ${name:7:2} $name"\n'
        "done",
        "for photo in inbox/IMG_*.jpg; do\n"
        '  name=$(basename "$photo")\n'
        '  echo "${name:4:4} ${name:8:2} $name"\n'
        "done",
        "for photo in inbox/IMG_*.jpg; do\n"
        '  name=$(basename "$photo")\n'
        "  target=photos/${name:4:4}/${name:8:2}\n"
        '  mkdir -p "$target"\n'
        '  mv -n "$photo" "$target/"\n'
        "done",
        "ls inbxo",
        "ls inbox",
        "find photos -type f | sort",
    ),
    facts=(
        ("IMG_*.jpg",),
        ("${name:4:4}", "four digits after IMG_", "first four digits of the name"),
        ("${name:8:2}", "fifth and sixth digit", "two digits after the year"),
        (
            "photos/${name:4:4}/${name:8:2}",
            "photos/YYYY/MM",
            "photos/year/month",
            "a folder per year and month",
        ),
        ("mv -n", "without overwriting", "does not overwrite", "no overwriting"),
    ),
    absent=("inbxo", "${name:7:2}"),
    parameters=("inbox",),
    finds=(
        "file the pictures from the camera by date",
        "sort the new images into yearly and monthly directories",
        "tidy up the jpg files: one sub-folder for each month",
    ),
    near_misses=(
        "rename the photos after the month they were taken in",
        "delete the photos of one year and month",
        "copy the photos of one month back into the inbox",
    ),
    other=_other_photos,
    other_values={"inbox": "camera"},
    check=_check_photos,
)


def _sales_tables(shops: tuple[str, ...], seed: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, shop in enumerate(shops):
        amounts = numbers(seed + place, 10 + (place * 13 + seed) % 30, 2, 480)
        rows = [(row + 1, f"{amount}.00") for row, amount in enumerate(amounts)]
        found[shop] = table([("receipt", "amount"), *rows])
    return found


_APRIL = _sales_tables(("centre", "market hall", "station"), 5)
_MAY = _sales_tables(("airport", "centre", "market hall", "river side", "station"), 17)


def _archive(tables: dict[str, str]) -> bytes:
    """A zip as an ordinary program packs it, with the hidden double of every table that comes along."""
    members: list[tuple[str, bytes]] = [("delivery/README.txt", b"Tables of the shops, see sub-folders.\n")]
    for shop, text in tables.items():
        members.append((f"delivery/shops/{shop}.csv", text.encode()))
        members.append((f"__MACOSX/delivery/shops/._{shop}.csv", b"\x00\x05\x16\x07" + shop.encode()))
        members.append((f"delivery/pictures/{shop}.png", b"\x89PNG\r\n" + shop.encode()))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name, (2025, 5, 2, 8, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _write_archive(folder: Path, name: str, tables: dict[str, str]) -> None:
    content = _archive(tables)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    write(folder / "SHA256SUMS", f"{hashlib.sha256(content).hexdigest()}  {name}\n")


def _prepare_archive(folder: Path) -> None:
    _write_archive(folder, "april.zip", _APRIL)


def _other_archive(folder: Path) -> None:
    _write_archive(folder, "may_2025.zip", _MAY)
    write(folder / "contacts.txt", "Airport shop: extension 31\n")


def _check_archive(folder: Path) -> None:
    assert files_below(folder / "tables") == sorted(f"{shop}.csv" for shop in _MAY)
    for shop, text in _MAY.items():
        assert text_of(folder / "tables" / f"{shop}.csv") == text
    rows = "".join(f"{shop}.csv {len(_MAY[shop].splitlines()) - 1}\n" for shop in sorted(_MAY))
    assert text_of(folder / "rows.txt") == rows
    assert files_below(folder) == sorted(
        ["SHA256SUMS", "contacts.txt", "may_2025.zip", "rows.txt", *(f"tables/{shop}.csv" for shop in _MAY)]
    )


ARCHIVE = Lesson(
    name="tables_from_a_zip",
    goal="Check the delivered zip, take only the shops' CSV tables out of it and count the rows of each",
    prepare=_prepare_archive,
    typed=(
        "ls -l",
        "sha256sum -c SHA256SUMS",
        "unzip -l arpil.zip",
        "unzip -l april.zip",
        "unzip -tq april.zip",
        "unzip -jq april.zip '*.csv' -d tables",
        "ls -A tables",
        "rm -r tables",
        "unzip -jq april.zip '*.csv' -x '__MACOSX/*' -d tables",
        "ls -A tables",
        "wc -l tables/*.csv",
        "for file in tables/*.csv; do\n"
        '  echo "$(basename "$file") $(($(wc -l < "$file") - 1))"\n'
        "done > rows.txt",
        "cat rows.txt",
    ),
    facts=(
        ("*.csv", "only the CSV files"),
        ("__MACOSX",),
        ("unzip -t", "test the archive", "sha256sum -c"),
        ("-j", "without the folders", "without sub-folders"),
        ("-d tables", "into tables", "folder tables"),
        ("- 1))", "without the heading", "minus the heading", "heading is not counted"),
        ("rows.txt",),
    ),
    absent=("arpil",),
    parameters=("april.zip",),
    finds=(
        "unpack just the tables of the shops from the archive and say how many lines they have",
        "verify and open the monthly delivery archive",
        "get the csv files out of the zip without the pictures",
    ),
    near_misses=(
        "pack the CSV tables of the shops into a zip",
        "delete the rows of one shop from the tables",
        "count the pictures in the delivered zip",
    ),
    other=_other_archive,
    other_values={"april.zip": "may_2025.zip"},
    check=_check_archive,
)

LESSONS = (PERMISSIONS, PHOTOS, ARCHIVE)
