"""Lessons on pictures: number scanned pages in their order, make a folder of pictures smaller."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lessons.first.folders import files_below, read, write
from tests.lessons.lesson import Lesson

# ---- numbering scanned pages

APRIL_SCANS = tuple(range(1, 15))
JUNE_SCANS = (3, 4, 5, 8, 9, 10, 11, 20, 21, 98, 99, 100, 101, 102, 103, 110, 1000)


def _page(number: int) -> str:
    return f"page taken as scan {number}\n" + "".join(
        f"{random.Random(number).randrange(1 << 30):030b}\n" * 4
    )


def _scans(folder: Path, numbers: Sequence[int], note: str) -> None:
    for number in numbers:
        write(folder / "scans" / f"Scan {number}.tif", _page(number))
    write(folder / "scans" / "settings.txt", note)


def _april_scans(folder: Path) -> None:
    _scans(folder, APRIL_SCANS, "300 dpi, grey\n")


def _june_scans(folder: Path) -> None:
    _scans(folder, JUNE_SCANS, "600 dpi, colour\n")


def _check_scans(folder: Path) -> None:
    expected = {f"deed-{place:03d}.tif": _page(number) for place, number in enumerate(JUNE_SCANS, start=1)}
    expected["settings.txt"] = "600 dpi, colour\n"
    expected["renamed.txt"] = "".join(
        f"Scan {number}.tif\tdeed-{place:03d}.tif\n" for place, number in enumerate(JUNE_SCANS, start=1)
    )
    assert {name: read(path) for name, path in files_below(folder / "scans").items()} == expected


RENAME = Lesson(
    name="number_scanned_pages",
    goal="Rename the scanned pages to lease-001.tif and so on in the order of their scan; keep a list",
    prepare=_april_scans,
    typed=(
        "ls",
        "cd scans",
        "ls",
        "n=1",
        """for f in *.tif; do
  printf '%s -> lease-%03d.tif\\n' "$f" "$n"; n=$((n + 1))
done""",
        "ls -v *.tif | haed -n 3",
        "ls -v *.tif | head -n 3",
        "n=1",
        """ls -v *.tif | while read -r f; do
  new=$(printf 'lease-%03d.tif' "$n")
  printf '%s\\t%s\\n' "$f" "$new" >> renamed.txt
  mv -n -- "$f" "$new"
  n=$((n + 1))
done""",
        "cat renamed.txt",
        "cd ..",
        "ls scans | wc -l",
    ),
    facts=(
        (
            "ls -v",
            "sort -V",
            "natural order",
            "order of the numbers",
            "by number",
            "numeric order",
            "version order",
        ),
        ("%03d", "three digits", "leading zeros", "3 digits"),
        ("*.tif", "only the .tif files", "files ending in .tif"),
        ("n=1", "begin with 1", "starting at 1", "start with 001", "from 001"),
        ("renamed.txt",),
        ("'%s\\t%s\\n'", "old name, tab, new name", "separated by a tab", "tab-separated"),
    ),
    absent=("haed", "for f in *.tif", " -> lease"),
    parameters=("lease",),
    finds=(
        "give the scans running numbers with leading zeros",
        "number the pages of a scanned document consecutively",
        "rename tif files to a prefix and a three digit sequence number",
    ),
    near_misses=(
        "scan the pages of a lease again",
        "delete the pages whose name has no number",
        "merge the scanned pages into one file",
    ),
    other=_june_scans,
    other_values={"lease": "deed"},
    check=_check_scans,
)

# ---- making pictures smaller

SHRINK = '''"""Make a plain PPM picture (P3) smaller; the height follows from the width."""

import argparse

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--width", type=int, required=True, help="width of the result in pixels")
parser.add_argument("--average", action="store_true", help="mean of the pixels (else one of them is taken)")
parser.add_argument("source")
parser.add_argument("target")
options = parser.parse_args()

with open(options.source, encoding="ascii") as stream:
    words = [word for line in stream for word in line.partition("#")[0].split()]
if words[0] != "P3":
    parser.error(f"{options.source} is not a plain PPM picture")
width, height, depth = map(int, words[1:4])
values = list(map(int, words[4:]))
new_width = options.width
new_height = height * new_width // width
lines = ["P3", f"{new_width} {new_height}", str(depth)]
for y in range(new_height):
    top, bottom = y * height // new_height, (y + 1) * height // new_height
    line = []
    for x in range(new_width):
        left, right = x * width // new_width, (x + 1) * width // new_width
        if not options.average:
            bottom, right = top + 1, left + 1
        cells = [3 * (row * width + column) for row in range(top, bottom) for column in range(left, right)]
        line += [str(sum(values[cell + colour] for cell in cells) // len(cells)) for colour in range(3)]
    lines.append(" ".join(line))
with open(options.target, "w", encoding="ascii") as stream:
    stream.write("\\n".join(lines) + "\\n")
print(f"{options.target}: {width} x {height} -> {new_width} x {new_height}")
'''

AUTUMN = {"front door": (48, 36), "gate": (48, 48), "roof garden": (48, 24)}
SPRING = {"front door": (48, 36), "gate": (48, 54), "Küche": (96, 60), "hall": (48, 24), "yard": (144, 54)}


def _pixels(name: str, width: int, height: int) -> list[list[tuple[int, int, int]]]:
    chance = random.Random(f"{name} {width} {height}")
    tone = chance.randrange(60, 160)
    return [
        [
            (tone + chance.randrange(40), (row * 200) // height, (column * 250) // width)
            for column in range(width)
        ]
        for row in range(height)
    ]


def _ppm(pixels: Sequence[Sequence[tuple[int, int, int]]]) -> str:
    rows = [" ".join(str(value) for pixel in row for value in pixel) for row in pixels]
    return "\n".join(["P3", f"{len(pixels[0])} {len(pixels)}", "255", *rows]) + "\n"


def _album(folder: Path, pictures: Mapping[str, tuple[int, int]]) -> None:
    for name, (width, height) in pictures.items():
        write(folder / "originals" / f"{name}.ppm", _ppm(_pixels(name, width, height)))
    write(folder / "originals" / "places.txt", "".join(f"{name}\n" for name in pictures))
    write(folder / "shrink.py", SHRINK)


def _autumn(folder: Path) -> None:
    _album(folder, AUTUMN)


def _spring(folder: Path) -> None:
    _album(folder, SPRING)


def _mean(pixels: Sequence[Sequence[tuple[int, int, int]]], factor: int) -> list[list[tuple[int, int, int]]]:
    """Each square of pixels as one pixel of their mean, rounded down."""
    result: list[list[tuple[int, int, int]]] = []
    for top in range(0, len(pixels), factor):
        line: list[tuple[int, int, int]] = []
        for left in range(0, len(pixels[0]), factor):
            square = [pixel for row in pixels[top : top + factor] for pixel in row[left : left + factor]]
            red, green, blue = (sum(pixel[colour] for pixel in square) // len(square) for colour in range(3))
            line.append((red, green, blue))
        result.append(line)
    return result


def _check_album(folder: Path) -> None:
    expected = {
        f"{name}.ppm": _ppm(_mean(_pixels(name, width, height), width // 16))
        for name, (width, height) in SPRING.items()
    }
    sizes = {f"{name}.ppm 16 {height * 16 // width}" for name, (width, height) in SPRING.items()}
    made = {name: read(path) for name, path in files_below(folder / "small").items()}
    listed = made.pop("sizes.txt", "").splitlines()
    assert made == expected
    assert len(listed) == len(sizes)
    assert set(listed) == sizes


SMALLER = Lesson(
    name="shrink_pictures",
    goal="Make smaller copies of all pictures with the script of the folder; list their sizes",
    prepare=_autumn,
    typed=(
        "ls . originals",
        "python3 shrink.py --help",
        "head -n 2 originals/gate.ppm",
        "mkdir small",
        "python3 shrink.py --width 24 originals/gate.ppm small/gate.ppm",
        "sed -n 4p small/gate.ppm | cut -c1-60",
        "for f in originals/*.ppm; do python3 shrink.py --average --width 24 $f small/$(basename $f); done",
        "ls small",
        "for f in originals/*.ppm; do\n"
        '  python3 shrink.py --average --width 24 "$f" "small/$(basename "$f")"\n'
        "done",
        'for f in small/*.ppm; do echo "$(basename "$f") $(sed -n 2p "$f")"; done > small/sizes.txt',
        "cat small/sizes.txt",
    ),
    facts=(
        ("shrink.py",),
        ("--width 24", "24 pixels", "24"),
        ("--average", "mean of the pixels", "average the pixels"),
        ("originals/*.ppm", "every .ppm file of originals", "each picture in originals"),
        ("small/$(basename", "under the same name in small", "folder small", "into small"),
        ("sizes.txt",),
    ),
    absent=("--help", "small/$(basename $f)", "cut -c1-60"),
    parameters=("24",),
    finds=(
        "scale down a folder of images to a given width",
        "produce thumbnails of the originals",
        "reduce all ppm images to fewer pixels",
    ),
    near_misses=(
        "enlarge the small pictures of the folder",
        "list the pictures that are wider than they are high",
        "delete the small copies of the pictures",
    ),
    other=_spring,
    other_values={"24": "16"},
    check=_check_album,
)

LESSONS = (RENAME, SMALLER)
