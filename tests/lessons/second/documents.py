"""Lessons on written documents: letters from a template, a manifest with totals, a term replaced."""

import hashlib
import re
from pathlib import Path

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import files_below, numbers, table, text_of, write

_MEMBER_HEADING = ("number", "name", "street", "town", "fee")

_LETTER = """Allotment Society Westbrook

@DATE@

@NAME@
@STREET@
@TOWN@

Dear @NAME@,

your fee for the coming year is @FEE@ EUR. Please give the number @NUMBER@
when you pay, and tell us if you no longer live in @TOWN@.

The committee
"""

_REMINDER = """@DATE@ - member @NUMBER@

To: @NAME@, @STREET@, @TOWN@

Dear @NAME@,

we have not yet received your fee of @FEE@ EUR for the number @NUMBER@. If your
payment has crossed this reminder of @DATE@, please take it as settled.

The committee of the Allotment Society Eastfield
"""


def _members(first: int, names: tuple[str, ...], seed: int) -> list[tuple[str, str, str, str, str]]:
    streets = ("Mill Lane", "Bachstraße", "Station Road", "Orchard Row", "Am Graben", "High Street")
    towns = ("Westbrook", "Eastfield", "Lower Marsh", "Sankt Veit", "Two Bridges")
    fees = numbers(seed, len(names), 30, 75)
    houses = numbers(seed + 1, len(names), 1, 60)
    found: list[tuple[str, str, str, str, str]] = []
    for place, name in enumerate(names):
        flat = "/2" if place % 4 == 3 else ""
        street = f"{streets[(place * 5 + seed) % len(streets)]} {houses[place]}{flat}"
        town = towns[(place * 3 + seed) % len(towns)]
        found.append((str(first + place * 3), name, street, town, f"{fees[place]}.50"))
    return found


_MEMBERS = _members(
    1001,
    (
        "Ines Halden",
        "Paul Merrow",
        "Jürgen Mollach",
        "Rosa Lindqvist-Hay",
        "Tom Averill",
        "Käthe Brunnhof",
        "Nora Pellworth",
        "Ali Demiray",
        "Grace Tolland",
        "Otto Seewald",
        "Mary Ann Upcott",
        "Ben Farrow",
    ),
    4,
)
_NEW_MEMBERS = _members(
    2210,
    (
        "Hanna Weidlich",
        "Omar Fairley",
        "Lucy St. Clement",
        "Jörg Ahrbeck",
        "Edith Munsey",
        "Pia Korrell",
        "Sam Ockley",
        "Vera Dunmore",
        "Uwe Lanzig",
    ),
    9,
)


def _prepare_letters(folder: Path) -> None:
    write(folder / "letter.txt", _LETTER)
    write(folder / "members.csv", table([_MEMBER_HEADING, *_MEMBERS], ";"))
    write(folder / "committee.txt", "Chair: Grace Tolland\nTreasurer: Otto Seewald\n")


def _other_letters(folder: Path) -> None:
    write(folder / "reminder.txt", _REMINDER)
    write(folder / "unpaid.csv", table([_MEMBER_HEADING, *_NEW_MEMBERS], ";"))


def _check_letters(folder: Path) -> None:
    assert files_below(folder / "letters") == [f"{member[0]}.txt" for member in _NEW_MEMBERS]
    for number, name, street, town, fee in _NEW_MEMBERS:
        letter = _REMINDER.replace("@DATE@", "3 November 2025").replace("@NUMBER@", number)
        letter = letter.replace("@NAME@", name).replace("@STREET@", street)
        letter = letter.replace("@TOWN@", town).replace("@FEE@", fee)
        assert text_of(folder / "letters" / f"{number}.txt") == letter
    assert text_of(folder / "reminder.txt") == _REMINDER


LETTERS = Lesson(
    name="letters_from_a_template",
    goal="Write one letter to every member in the list, from the letter template, with today's date in it",
    prepare=_prepare_letters,
    typed=(
        "ls",
        "cat leter.txt",
        "cat letter.txt",
        "head -3 members.csv",
        "mkdir letters",
        "tail -n +2 members.csv | while IFS=';' read -r number name street town fee; do\n"
        '  sed -e "s/@DATE@/12 May 2025/" -e "s/@NAME@/$name/" -e "s/@STREET@/$street/" letter.txt '
        '> "letters/$number.txt"\n'
        "done",
        "ls -l letters",
        "grep 1010 members.csv",
        "tail -n +2 members.csv | while IFS=';' read -r number name street town fee; do\n"
        '  sed -e "s|@DATE@|12 May 2025|g" -e "s|@NUMBER@|$number|g" -e "s|@NAME@|$name|g" '
        '-e "s|@STREET@|$street|g" -e "s|@TOWN@|$town|g" -e "s|@FEE@|$fee|g" letter.txt '
        '> "letters/$number.txt"\n'
        "done",
        "cat letters/1010.txt",
        "grep -l @ letters/*",
        "ls letters | wc -l",
    ),
    facts=(
        ("@NAME@",),
        ("@STREET@",),
        ("@FEE@",),
        ("IFS=';'", "separated by semicolons", "semicolon"),
        ("tail -n +2", "skip the first line", "without the heading", "leave out the header"),
        ("s|@STREET@|", "a vertical bar as the delimiter", "| as the separator of sed"),
        ("letters/$number.txt", "named after the member's number", "named by the number"),
    ),
    absent=("leter.txt", "1010"),
    parameters=("members.csv", "letter.txt", "12 May 2025"),
    finds=(
        "make a personal letter for each person in the address file",
        "mail merge: fill the placeholders of the template for every row",
        "I need the serial letters for all members again",
    ),
    near_misses=(
        "delete the letters of the members who left",
        "send the letters to all members by e-mail",
        "add a new member to the list",
    ),
    other=_other_letters,
    other_values={
        "members.csv": "unpaid.csv",
        "letter.txt": "reminder.txt",
        "12 May 2025": "3 November 2025",
    },
    check=_check_letters,
)


def _deliveries(names: tuple[str, ...], seed: int, month: str) -> dict[str, str]:
    goods = ("oats", "wheat", "barley", "linseed", "clover seed", "rye")
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        count = 12 + (place * 7 + seed) % 15
        tenths = numbers(seed + place, count, 105, 4890)
        rows = [
            (f"{month}-{1 + row:02d}", goods[(row * 5 + place) % len(goods)], f"{tenth // 10}.{tenth % 10}")
            for row, tenth in enumerate(tenths)
        ]
        found[name] = table([("date", "goods", "weight"), *rows])
    return found


_MARCH = _deliveries(("harbour.csv", "north gate.csv", "south gate.csv", "yard.csv"), 3, "2025-03")
_JULY = _deliveries(
    ("field store.csv", "harbour.csv", "north gate.csv", "rail.csv", "south gate.csv", "yard.csv"),
    11,
    "2025-07",
)


def _prepare_manifest(folder: Path) -> None:
    for name, text in _MARCH.items():
        write(folder / "deliveries" / name, text)
    write(folder / "deliveries" / "notes.txt", "North gate: scale checked on 4 March.\n")


def _other_manifest(folder: Path) -> None:
    for name, text in _JULY.items():
        write(folder / "deliveries" / name, text)
    write(folder / "deliveries" / "notes.txt", "Rail: two waggons late.\nYard: new scale.\n")
    write(folder / "contacts.txt", "Rail office: extension 14\n")


def _check_manifest(folder: Path) -> None:
    rows = [line.split(",") for text in _JULY.values() for line in text.splitlines()[1:]]
    weight = sum(int(row[2].replace(".", "")) for row in rows)
    expected = "Deliveries of July 2025\nPrepared by the stock office\n\n"
    expected += f"Files: {len(_JULY)}\nRows: {len(rows)}\nWeight in kg: {weight // 10}.{weight % 10}\n\n"
    expected += "SHA-256 checksums:\n"
    for name in sorted(_JULY):
        expected += f"{hashlib.sha256(_JULY[name].encode()).hexdigest()}  {name}\n"
    assert text_of(folder / "MANIFEST.txt") == expected


MANIFEST = Lesson(
    name="manifest_with_totals",
    goal="Write the manifest of this month's deliveries: number of files and rows, total weight, checksums",
    prepare=_prepare_manifest,
    typed=(
        "ls deliveries",
        "head -n 3 'deliveries/north gate.csv'",
        "wc -l deliveries/*.csv",
        "files=$(ls deliveries/*.csv | wc -l)",
        "rows=$(cat deliveries/*.csv | wc -l)",
        "echo $files $rows",
        "rows=$(tail -q -n +2 deliveries/*.csv | wc -l)",
        "weight=$(tail -q -n +2 deliveries/*.csv | awk -F, '{ sum += $3 } END { printf \"%.1f\", sum }')",
        "echo $rows $wieght",
        "echo $rows $weight",
        "cat > MANIFEST.txt <<'END'\nDeliveries of March 2025\nFiles: $files\nRows: $rows\nEND",
        "cat MANIFEST.txt",
        "cat > MANIFEST.txt <<END\n"
        "Deliveries of March 2025\n"
        "Prepared by the stock office\n"
        "\n"
        "Files: $files\n"
        "Rows: $rows\n"
        "Weight in kg: $weight\n"
        "\n"
        "SHA-256 checksums:\n"
        "$(cd deliveries && sha256sum *.csv)\n"
        "END",
        "cat MANIFEST.txt",
    ),
    facts=(
        (
            "tail -q -n +2",
            "without the headings",
            "headings are not counted",
            "skip the first line of each file",
        ),
        ("-F, '{ sum += $3 }", "sum of the third column", "total of the weight column"),
        ("%.1f", "one decimal"),
        ("Prepared by the stock office",),
        ("sha256sum", "SHA-256"),
        ("MANIFEST.txt",),
        ("*.csv", "only the CSV files"),
    ),
    absent=("wieght", "north gate"),
    parameters=("March 2025",),
    finds=(
        "create the overview file that goes with the delivery tables of a month",
        "list files, row count, kilograms and hashes of the deliveries in a text file",
        "produce MANIFEST.txt for the stock office",
    ),
    near_misses=(
        "verify the deliveries against the checksums in the manifest",
        "delete the manifest and the delivery files of the month",
        "send the stock office the list of late deliveries",
    ),
    other=_other_manifest,
    other_values={"March 2025": "July 2025"},
    check=_check_manifest,
)


def _house(old: str, street: str) -> dict[str, str]:
    return {
        "rooms.txt": f"Rooms of the house\n\n{old}: 24 seats, ground floor\nGarden room: 12 seats\n"
        f"Entrance to {old} from {street} 4\nThe key of {old} hangs beside the key of the cellar.\n",
        "guides/first day.txt": f"Please come to {old} at nine.\nBring your badge: {old} is kept locked.\n"
        f"Bus stop: {street}\n",
        "guides/keys and doors.txt": f"1. Cellar\n2. Garden room\n3. {old}-Nord\n4. {old}\n",
        "guides/cleaning.txt": "Floors on Monday, windows on the first Friday.\n",
        "minutes/2025-03.txt": f"Item 2: new chairs for {old}. {old}, not the garden room, comes first.\n",
        "archive/2019 minutes.txt": f"Item 1: the large room is to be called {old}.\n",
        "bookings.csv": f"date,room\n2025-03-02,{old}\n2025-03-05,Garden room\n",
    }


_HOUSE = _house("Linden", "Lindenstraße")
_OTHER_HOUSE = {
    **_house("Harbour", "Harbourside"),
    "guides/evening/late events.txt": "Lock Harbour last.\nHarbours and ports: see the leaflet.\n",
    "archive/old/1998 plan.txt": "Harbour has two doors.\n",
    "minutes/2025-04.txt": "Item 1: Harbour is painted in May (Harbour, both doors).\n",
}


def _prepare_term(folder: Path) -> None:
    for name, text in _HOUSE.items():
        write(folder / name, text)


def _other_term(folder: Path) -> None:
    for name, text in _OTHER_HOUSE.items():
        write(folder / name, text)


def _check_term(folder: Path) -> None:
    assert files_below(folder) == sorted(_OTHER_HOUSE)
    for name, text in _OTHER_HOUSE.items():
        changed = name.endswith(".txt") and not name.startswith("archive/")
        assert text_of(folder / name) == (re.sub(r"\bHarbour\b", "Quay", text) if changed else text), name


TERM = Lesson(
    name="rename_a_term_in_all_texts",
    goal="The room Linden is now called Maple: change the name in all our text files, except in the archive",
    prepare=_prepare_term,
    typed=(
        "ls -R",
        "gerp -rn Linden .",
        "grep -rn Linden .",
        "sed -n 's/Linden/Maple/gp' rooms.txt",
        r"sed -n 's/\bLinden\b/Maple/gp' rooms.txt",
        "find . -name '*.txt' ! -path './archive/*'",
        r"find . -name '*.txt' ! -path './archive/*' -exec sed -i 's/\bLinden\b/Maple/g' {} +",
        "grep -rnw Linden .",
        "grep -rnw Maple . | wc -l",
        "cat rooms.txt",
    ),
    facts=(
        (r"\b", "whole word", "complete word"),
        ("*.txt", "text files"),
        ("./archive", "archive is left out", "except the archive", "not in the archive"),
        ("sed -i", "in place"),
        ("Maple/g", "/g", "every occurrence in a line"),
    ),
    absent=("gerp",),
    parameters=("Linden", "Maple"),
    finds=(
        "a room got a new name, put it everywhere in the documents",
        "search and replace a word in every txt file of the folder",
        "swap the old designation for the new one in guides and minutes",
    ),
    near_misses=(
        "find out which text files mention the room",
        "rename the text files of the room",
        "delete the room from the bookings",
    ),
    other=_other_term,
    other_values={"Linden": "Harbour", "Maple": "Quay"},
    check=_check_term,
)

LESSONS = (LETTERS, MANIFEST, TERM)
