"""Candidate conditions: what is guessed of a result, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.conditions import objection
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

KINDS = ConditionKind
ROWS = "name,amount\n" + "".join(f"row {n},{n * 7 % 13}\n" for n in range(8))


def found(
    before: Folder, after: Folder, *commands: str, inputs: tuple[str, ...] = ()
) -> dict[ConditionKind, ProofCondition]:
    return {one.kind: one for one in candidates(before, after, commands, inputs)}


def test_a_made_file_has_one_statement_that_it_is_there_and_not_empty() -> None:
    kinds = [one.kind for one in candidates(Folder(), Folder({"out.txt": "x"}), ["make"], ())]
    assert kinds == [KINDS.NOT_EMPTY]
    assert [one.kind for one in candidates(Folder(), Folder({"out.txt": ""}), ["touch out.txt"], ())] == [
        KINDS.EXISTS
    ]


def test_files_that_no_command_names_are_stated_by_one_pattern() -> None:
    before = Folder({"list.csv": ROWS})
    after = Folder({**before.texts, **{f"letters/{n}.txt": f"Dear {n}" for n in range(1000, 1008)}})
    command = 'while read -r n; do echo "Dear $n" > "letters/$n.txt"; done < list.csv'
    stated = candidates(before, after, [command], ["list.csv"])
    assert {one.path for one in stated} == {"letters/*.txt"}
    (count,) = (one for one in stated if one.kind is KINDS.FILE_COUNT)
    assert (count.other, count.argument) == ("list.csv", "-1")


def test_files_that_a_command_names_are_stated_one_by_one() -> None:
    after = Folder({"a.txt": "x", "b.txt": "y"})
    stated = candidates(Folder(), after, ["echo x > a.txt; echo y > b.txt"], ())
    assert {one.path for one in stated} == {"a.txt", "b.txt"}


def test_moved_files_are_stated_with_their_content_and_as_gone() -> None:
    before = Folder({f"inbox/IMG_2024010{n}.jpg": f"picture {n}" for n in range(1, 4)})
    after = Folder({f"photos/2024/01/IMG_2024010{n}.jpg": f"picture {n}" for n in range(1, 4)})
    stated = found(before, after, "for f in inbox/*; do mv $f $target; done", inputs=tuple(before.paths()))
    assert stated[KINDS.SAME_CONTENT].path == "photos/2024/01/*"
    assert stated[KINDS.SAME_CONTENT].other == "inbox/*"
    assert stated[KINDS.SAME_CONTENT].argument == "all"
    assert stated[KINDS.ABSENT].statement == "No file inbox/* is left"


def test_moved_files_of_several_kinds_are_stated_by_their_folder() -> None:
    before = Folder({"in/film.mp4": "long film", "in/talk.pdf": "long talk", "in/note.txt": "x"})
    after = Folder({"big/film.mp4": "long film", "big/talk.pdf": "long talk", "in/note.txt": "x"})
    stated = candidates(before, after, ["find in -size +5c -exec mv -t big {} +"], tuple(before.paths()))
    assert {one.statement for one in stated} == {
        "Every file big/* has the content that one of the files in/* had before",
        "At least one file big/* has been made, and none is empty",
    }


def test_files_that_an_archive_names_are_not_counted() -> None:
    archives = {f"{host}.tar.gz": ("app.log", f"{host}.log") for host in ("web", "db")}
    before = Folder(archives=archives)
    unpacked = {f"hosts/{host}/app.log": host for host in ("web", "db")}
    line = "for a in *.tar.gz; do mkdir hosts/${a%.tar.gz}; tar -xf $a -C hosts/${a%.tar.gz}; done"
    stated = found(before, Folder(unpacked, archives=archives), line, inputs=tuple(archives))
    assert KINDS.FILE_COUNT not in stated
    named = f"{line}; grep -c . hosts/*/app.log"
    assert KINDS.FILE_COUNT in found(
        before, Folder(unpacked, archives=archives), named, inputs=tuple(archives)
    )


def test_permissions_are_stated_by_extension_wherever_the_files_lie() -> None:
    texts = {"run.sh": "x", "tools/a.sh": "y", "tools/deep/b.sh": "z"}
    after = Folder(texts, modes=dict.fromkeys(texts, 0o750))
    (one,) = candidates(Folder(texts), after, ["find . -name '*.sh' -exec chmod 750 {} +"], ())
    assert (one.kind, one.path, one.argument) == (KINDS.MODE, "**/*.sh", "750")


def test_a_name_that_holds_a_made_date_is_stated_by_a_pattern() -> None:
    after = Folder({"backup-2026-11-23.txt": "x"})
    (one,) = candidates(Folder(), after, ["cp a backup-$(date +%F).txt"], ())
    assert one.path == "backup-*.txt"
    (one,) = candidates(Folder(), after, ["cp a backup-2026-11-23.txt"], ())
    assert one.path == "backup-2026-11-23.txt"


def test_names_that_hold_made_dates_are_stated_without_what_the_days_shown_share() -> None:
    before = Folder({f"IMG_{n}.JPG": f"picture {n}" for n in (1, 2, 3)})
    after = Folder({f"2025-03-1{n}_12000{n}.jpg": f"picture {n}" for n in (1, 2, 3)})
    command = 'for f in IMG_*.JPG; do mv "$f" "$(date -r "$f" +%F_%H%M%S).jpg"; done'
    stated = candidates(before, after, [command], tuple(before.paths()))
    assert {one.path for one in stated if one.kind is not KINDS.ABSENT} == {"*.jpg"}


def test_a_header_is_one_of_named_columns_and_of_one_source() -> None:
    before = Folder({"in.csv": ROWS, "letter.txt": "Dear reader\nx\ny\nz\nw\n"})
    after = Folder(
        {**before.texts, "out.csv": ROWS[: ROWS.index("row 3")], "out.txt": "Dear reader\nother\n"}
    )
    stated = candidates(
        before,
        after,
        ["work"],
        ["in.csv", "letter.txt"],
        sources={"out.csv": ["in.csv"], "out.txt": ["letter.txt"]},
    )
    assert [(c.path, c.other) for c in stated if c.kind is KINDS.HEADER_OF] == [("out.csv", "in.csv")]
    several = candidates(before, after, ["work"], ["in.csv", "letter.txt"])
    assert not [c for c in several if c.kind is KINDS.HEADER_OF]


def test_sizes_are_compared_with_rows_only() -> None:
    script = "import sys\n" * 8
    before = Folder({"clean.py": script})
    after = Folder({**before.texts, "out.txt": "".join(f"{n}\n" for n in (3, 1, 2, 9, 5, 4, 7, 6))})
    assert KINDS.LINE_COUNT not in found(before, after, "python clean.py", inputs=("clean.py",))


def test_a_script_that_a_here_document_wrote_has_no_statement_about_its_text() -> None:
    script = "import csv\nimport sys\n\nprint(1)\n"
    stated = found(Folder(), Folder({"clean.py": script}), f"cat > clean.py <<'END'\n{script}END")
    assert set(stated) == {KINDS.NOT_EMPTY}


def test_an_order_is_one_of_table_columns_rather_than_of_words() -> None:
    text = "".join(f"Scan {10 - n}\tlease-{n:03d}\n" for n in range(9))
    stated = candidates(Folder(), Folder({"renamed.txt": text}), ["work --sorted"], ())
    orders = [one.argument for one in stated if one.kind is KINDS.SORTED]
    by_column, by_word = (f"by={by} as=text order=ascending header=0" for by in ("tab:2", "space:3"))
    assert orders.index(by_column) < orders.index(by_word)


def test_whole_lines_of_commands_are_stated_before_words() -> None:
    after = Folder({"sum.csv": "category;count;sum\na;1;2\n"})
    stated = found(Folder(), after, "echo 'category;count;sum' > sum.csv", "awk x >> sum.csv")
    assert stated[KINDS.HOLDS_TEXT].argument == "category;count;sum"


def test_a_placeholder_of_a_template_is_stated_as_gone() -> None:
    before = Folder({"letter.txt": "Dear @NAME@,\nyour fee is due on the first of May.\nThe committee\n"})
    text = before.texts["letter.txt"].replace("@NAME@", "Ann")
    stated = found(
        before,
        Folder({**before.texts, "a.txt": text}),
        "sed s/@NAME@/Ann/ letter.txt > a.txt",
        inputs=("letter.txt",),
    )
    assert stated[KINDS.LACKS_TEXT].argument == "@NAME@"


def test_changed_state_is_stated_where_it_follows_from_the_work() -> None:
    before = Folder({"in.csv": ROWS}, state={"git: commits": "4", "git: tracked files": "7"})
    after = Folder(
        before.texts,
        state={
            "git: commits": "5",
            "git: tracked files": "8",
            "git: tag v1": "annotated",
            "stock.db: table t: rows": "8",
            "stock.db: table u: rows": "77",
            ".venv: package tabulate": "0.9",
        },
    )
    stated = {one.path: one.argument for one in candidates(before, after, ["work"], ["in.csv"])}
    assert stated == {
        "git: commits": "+1",
        "git: tag v1": "annotated",
        "stock.db: table t: rows": "-1",
        ".venv: package tabulate": "*",
    }


NEW = {"env: environment": "Python", "env: package pip": "23.2", "env: package setuptools": "65.5"}


@pytest.mark.parametrize(
    ("commands", "before", "after", "goals"),
    [
        ("python3 -m venv env", {}, NEW, ["environment"]),
        (
            "python3 -m venv env\nenv/bin/pip install Flask_Login tabulate",
            {},
            NEW
            | {"env: package flask-login": "1", "env: package flask": "3", "env: package tabulate": "0.9"},
            ["package flask-login", "package tabulate"],
        ),
        (
            "python3 -m venv env\nenv/bin/pip install -r needed.txt",
            {},
            NEW | {"env: package flask": "3", "env: package tabulate": "0.9"},
            ["package flask", "package tabulate"],
        ),
        ("env/bin/pip install -U pip", NEW, NEW | {"env: package pip": "24.0"}, ["package pip"]),
        ("env/bin/pip install tabulate", NEW, NEW | {"env: package tabulate": "0.9"}, ["package tabulate"]),
        ("env/bin/pip uninstall -y setuptools", NEW, dict(tuple(NEW.items())[:2]), ["package setuptools"]),
        ("rm -r env", NEW, {}, ["environment", "package pip", "package setuptools"]),
        (
            "npm install dep",
            {},
            {"node_modules: environment": "Node", "node_modules: package dep": "1.2.3"},
            ["package dep"],
        ),
    ],
)
def test_of_an_environment_the_packages_that_were_asked_for_are_stated(
    commands: str, before: dict[str, str], after: dict[str, str], goals: list[str]
) -> None:
    stated = candidates(Folder(state=before), Folder(state=after), commands.splitlines(), [])
    assert [one.path.split(": ")[1] for one in stated] == goals


def test_there_are_at_most_eight_of_a_file_and_forty_in_all() -> None:
    lines = "".join(f"{n},{n},{n},{n}\n" for n in range(9))
    after = Folder({f"file{n}.out{n}": lines for n in range(24)} | {"in.csv": lines})
    stated = candidates(Folder({"in.csv": lines + "x,1,2,3\n"}), after, ["work 0,0,0,0 file"], ["in.csv"])
    assert len(stated) <= 40
    assert max(sum(1 for one in stated if one.path == path) for path in after.paths()) <= 8


NAMES = st.sampled_from(["a.csv", "b.csv", "out/1.txt", "out/2.txt", "c.json", "d"])
LINES = st.lists(st.sampled_from(["name,amount", "x,1", "y,2", "z,3", "Linden", "1", "{}"]), max_size=6).map(
    "\n".join
)
FOLDERS = st.builds(
    Folder, st.dictionaries(NAMES, LINES), st.dictionaries(NAMES, st.sampled_from([0o644, 0o755]))
)


@given(
    FOLDERS,
    FOLDERS,
    st.lists(st.sampled_from(["sort a.csv > b.csv", "echo 'x,1'", "head -n 2 d", "Linden"]), max_size=2),
)
def test_a_candidate_has_no_objection_on_its_own_folders(
    before: Folder, after: Folder, commands: list[str]
) -> None:
    for one in candidates(before, after, commands, sorted(before.paths())):
        assert objection(one, before, after) is None


def test_a_copy_of_a_file_that_is_emptied_afterwards_has_the_content_that_it_had_before() -> None:
    before = Folder({"app.log": "one\ntwo\n"})
    after = Folder({"app.log": "", "app.log.1": "one\ntwo\n"})
    said = {one.statement for one in candidates(before, after, ["cp app.log app.log.1; : > app.log"], ())}
    assert "The file app.log.1 has the content that app.log had before" in said
    assert "The file app.log is empty" in said


def test_a_copy_of_a_file_that_stays_has_the_content_of_it() -> None:
    before = Folder({"app.conf": "one\n"})
    after = Folder({**before.texts, "app.conf.bak": "one\n"})
    said = [one.statement for one in candidates(before, after, ["cp app.conf app.conf.bak"], ())]
    assert "The file app.conf.bak has the content of app.conf" in said


def test_a_new_file_without_content_is_not_claimed_to_stay_so() -> None:
    found = candidates(
        Folder({"a.txt": "x\n"}), Folder({"a.txt": "x\n", "bad.txt": ""}), ["grep y a.txt > bad.txt"], ()
    )
    assert [one.kind for one in found] == [KINDS.EXISTS]
