"""What a filter or a comparison leaves may rightly be nothing."""

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.filters import may_be_empty
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

KINDS = ConditionKind

CASES = {
    "grep x a.txt | sort > out.txt": True,
    "grep -c x a.txt > out.txt": False,
    "grep x a.txt | wc -l > out.txt": False,
    "sort a.txt | uniq > out.txt": False,
    "sort a.txt | uniq -d > out.txt": True,
    "comm -13 a.txt b.txt > out.txt": True,
    "join -v 1 a.txt b.txt > out.txt": True,
    "join a.txt b.txt > out.txt": False,
    "awk -F';' '$2<20{print $1}' a.csv | sort > out.txt": True,
    "awk -F';' -v m=5 'NR==1 || $2>=m' a.csv > out.txt": False,
    "awk '{print $1}' a.csv > out.txt": False,
    "awk '{s+=$1} END {print s}' a.csv > out.txt": False,
    "grep x a.txt > tmp; sort tmp > out.txt": True,
}


@pytest.mark.parametrize("line", CASES)
def test_a_result_may_be_empty_where_something_chooses_what_goes_into_it(line: str) -> None:
    assert may_be_empty("out.txt", line.split("; ")) is CASES[line]


def test_a_result_of_a_filter_is_stated_to_be_there_and_not_to_hold_anything() -> None:
    stated = candidates(
        Folder({"a.txt": "x\n"}), Folder({"a.txt": "x\n", "o.txt": "x!\n"}), ["grep x a.txt > o.txt"], ()
    )
    assert [one.kind for one in stated if one.path == "o.txt"] == [KINDS.EXISTS]


def test_a_filtering_script_may_leave_nothing() -> None:
    script = "rows = [r for r in csv.DictReader(f) if int(r['geburtstag'][5:7]) == month]"
    assert may_be_empty("liste.txt", ["python3 g.py Mitglieder.csv liste.txt"], script)


def test_an_archive_that_leaves_files_out_is_not_said_to_hold_all_of_the_folder() -> None:
    songs = {"Alben/a.mp3": "a", "Alben/b.mp3": "b"}
    after = Folder(songs, archives={"alben.tar": ["./a.mp3", "./b.mp3"]})
    stated = candidates(
        Folder(songs), after, ["tar -cf alben.tar -C Alben --exclude='*.m3u' ."], tuple(songs)
    )
    assert [one.other for one in stated if one.kind is KINDS.MEMBERS_OF] == ["Alben/*.mp3"]


def test_a_word_that_is_also_a_name_of_the_folder_is_not_stated() -> None:
    before = Folder({"Lager Nord/bestand.csv": "a;1\n"})
    after = Folder({**before.texts, "knapp.txt": "Lager Nord/bestand.csv: a (1)\n"})
    command = "awk -F';' '{print FILENAME\": \"$1}' \"Lager Nord/bestand.csv\" > knapp.txt"
    stated = candidates(before, after, [command], tuple(before.paths()))
    assert not any(one.kind is KINDS.HOLDS_TEXT for one in stated)


def test_what_a_setting_brings_into_a_file_is_stated() -> None:
    before, after = Folder({"app.conf": "port=80\nx=1\n"}), Folder({"app.conf": "port=8181\nx=1\n"})
    commands = ["PORT=8181", 'sed -i "s/^port=.*/port=$PORT/" app.conf']
    (held,) = (
        one for one in candidates(before, after, commands, ("app.conf",)) if one.kind is KINDS.HOLDS_TEXT
    )
    assert held.argument == "port=8181"
