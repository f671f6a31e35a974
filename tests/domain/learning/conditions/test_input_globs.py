"""What is stated of files that a method takes by a pattern holds for other names, and for one more file."""

from collections.abc import Mapping

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.conditions import objection
from domain.learning.conditions.input_globs import InputGlobs
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

KINDS = ConditionKind
TEXT = "one\ntwo\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    ("command", "folder", "source", "pattern", "results"),
    [
        ('for f in *.jpg; do convert "$f" small/"$f"; done', ".", "ann.jpg", "*.jpg", {"small/ann.jpg": "small/*.jpg"}),
        ('for f in *.jpg; do mv "$f" "trip-$f"; done', ".", "IMG_1.jpg", "*.jpg", {"trip-IMG_1.jpg": "trip-*.jpg"}),
        ('for f in IMG_*.jpg; do cp "$f" "n-${f#IMG_}"; done', ".", "IMG_1.jpg", "IMG_*.jpg", {"n-1.jpg": "n-*.jpg"}),
        ('for f in *.txt; do wc -w < "$f" > "${f%.txt}.n"; done', ".", "ann.txt", "*.txt", {"ann.n": "*.n"}),
        ('for f in *.md; do d=${f%.md}; mkdir $d; cp $f $d/; done', ".", "ann.md", "*.md", {"ann/ann.md": "*/*.md"}),
        ("for f in in/*; do sort $f > out/${f#in/}; done", ".", "in/ann.md", "in/*", {"out/ann.md": "out/*"}),
        ("find in -name '*.log' -exec cp {} a/ \\;", ".", "in/a/ann.log", "in/**/*.log", {"a/ann.log": "a/*.log"}),
        ("find . -type f -name '*.log' | xargs gzip", ".", "ann.log", "**/*.log", {"ann.log.gz": "*.log.gz"}),
        ("gzip *.txt", "shots", "shots/ann.txt", "shots/*.txt", {"shots/ann.txt.gz": "shots/*.txt.gz"}),
        ("cd shots && gzip *.txt", ".", "shots/ann.txt", "shots/*.txt", {"shots/ann.txt.gz": "shots/*.txt.gz"}),
        ("ls *.csv | while read -r f; do nl $f > n/$f; done", ".", "ann.csv", "*.csv", {"n/ann.csv": "n/*.csv"}),
        ('for d in */; do tar -cf "${d%/}.tar" "$d"; done', ".", "ann/1.txt", "*/**/*", {"ann.tar": "*.tar"}),
        ('for d in */; do cat "$d"*.txt > "${d%/}.all"; done', ".", "ann/1.txt", "*/*.txt", {"ann.all": "*.all"}),
        ("cp photos/{a,b}*.jpg out", ".", "photos/ab.jpg", "photos/a*.jpg", {"out/ab.jpg": "out/a*.jpg"}),
        ("cat ../raw/*.csv > ann.csv", "work", "raw/ann.csv", "raw/*.csv", {}),
        ("for f in *.jpg; do cp $f small/; done", ".", "ann.jpg", "*.jpg", {"annual.jpg": None, "bob.jpg": None}),
        ("for f in ann.jpg bob.jpg; do cp $f small/; done", ".", "ann.jpg", None, {"small/ann.jpg": None}),
        ("grep -c '*.txt' ann.log", ".", "ann.log", None, {}),
        ("awk '{print $1*2}' ann.txt > sum.txt", ".", "ann.txt", None, {}),
        ("cp img[0-9]*.png out", ".", "img12.png", None, {"out/img12.png": None}),
    ],
)  # fmt: skip
def test_a_file_and_what_is_called_like_it_are_known_by_the_pattern_that_reaches_it(
    command: str, folder: str, source: str, pattern: str | None, results: Mapping[str, str | None]
) -> None:
    globs = InputGlobs((command,), (folder,))

    assert globs.pattern(source) == pattern
    assert {path: globs.result_pattern(path, [source]) for path in results} == results


UPPER = 'for f in *.txt; do tr a-z A-Z < "$f" > up/"$f"; done'


def worked(*names: str) -> tuple[Folder, Folder]:
    """A folder of texts before and after each was put into ``up/`` in capitals."""
    before = {name: TEXT for name in names}
    return Folder(before), Folder(before | {f"up/{name}": TEXT.upper() for name in names})


@pytest.mark.parametrize(
    "shown", [("ann.txt",), ("IMG_1.txt", "IMG_2.txt"), ("ann.txt", "bob.txt", "cyd.txt")]
)
@pytest.mark.parametrize("given", [("zoe.txt",), ("IMG_1.txt", "holiday.txt"), tuple("abcd")])
def test_what_is_stated_of_a_loop_holds_for_other_names_and_for_more_files(
    shown: tuple[str, ...], given: tuple[str, ...]
) -> None:
    names = tuple(name if "." in name else f"{name}.txt" for name in given)
    stated = candidates(*worked(*shown), [UPPER], shown)

    assert {one.path for one in stated} == {"up/*.txt"}
    assert {KINDS.NOT_EMPTY, KINDS.FILE_COUNT, KINDS.LINE_COUNT} <= {one.kind for one in stated}
    assert [objection(one, *worked(*names)) for one in stated] == [None] * len(stated)
    before, after = worked(*names)
    less = Folder({path: text for path, text in after.texts.items() if path != f"up/{names[0]}"})
    assert any(objection(one, before, less) for one in stated)


def test_a_result_by_one_name_is_compared_with_the_pattern_of_its_sources() -> None:
    rows = "name,amount\n" + "".join(f"row {n},{n}\n" for n in range(6))
    before = Folder({"ann.csv": rows})
    after = Folder({**before.texts, "all.csv": rows.replace("row 3,3\n", "")})
    found = candidates(before, after, ["cat *.csv | grep -v 3 > all.csv"], ["ann.csv"])
    # How many lines go is another number each time, which varied input shows.
    stated = [one for one in found if one.kind is not KINDS.LINE_COUNT]

    assert {one.other for one in stated if one.other} == {"*.csv"}
    more = {"bob.csv": rows, "cyd.csv": rows.replace("row", "line")}
    made = Folder(more | {"all.csv": rows.replace("row 2", "line 2")})
    assert not [one for one in stated if objection(one, Folder(more), made)]
    strange = Folder(more | {"all.csv": rows.replace("row 2", "word 2")})
    assert [one.kind for one in stated if objection(one, Folder(more), strange)] == [KINDS.LINES_OF]


def test_files_of_two_patterns_are_counted_each_by_its_own() -> None:
    before = Folder({"a.csv": TEXT, "b.tsv": TEXT})
    after = Folder({**before.texts, "o/a.csv": TEXT.upper(), "o/b.tsv": TEXT.upper()})
    stated = candidates(before, after, ["for f in *.csv *.tsv; do x $f > o/$f; done"], ["a.csv", "b.tsv"])

    counted = {(one.path, one.other) for one in stated if one.kind is KINDS.FILE_COUNT}
    assert counted == {("o/*.csv", "*.csv"), ("o/*.tsv", "*.tsv")}


def test_what_is_gone_is_stated_by_the_pattern_only_where_nothing_of_it_is_left() -> None:
    before = Folder({"old-1.txt": "x", "old-2.txt": "y", "new.txt": "z"})
    after = Folder({"new.txt": "z"})
    (one,) = candidates(before, after, ['for f in *.txt; do [ x ] && rm "$f"; done'], ())
    assert one.path == "old-*.txt"


HAVE = {"on/ann.conf": "../have/ann.conf", "on/bob.conf": "../have/bob.conf"}
LINKS = (
    ("ln -s releases/2026-11-02 current", {"current": "releases/2026-11-02"}, {"current": "releases/2026-11-02"}),
    ("NEW=2.1; ln -sfn v/$NEW now", {"now": "v/2.1"}, {"now": "v/2.1"}),
    ('ln -sfn "rel/$(ls rel | tail -1)" current', {"current": "rel/2026-11-02"}, {"current": "rel/*"}),
    ('ln -sfn "rel/$(date +%F)" current', {"current": "rel/2026-11-27"}, {"current": "rel/*"}),
    ('ln -s "app-$(date +%Y%m%d).log" app.log', {"app.log": "app-20261127.log"}, {"app.log": "app-*.log"}),
    ('ln -s app.log "app-$(date +%F).log"', {"app-2026-11-27.log": "app.log"}, {"app-*.log": "app.log"}),
    ('ln -sfn "v/$(cat VERSION)" now', {"now": "v/2.1"}, {"now": "v/*"}),
    ("ln -s ../have/ann.conf on/ann.conf", {"on/ann.conf": "../have/ann.conf"}, {"on/ann.conf": "../have/ann.conf"}),
    ('for f in have/*.conf; do ln -s "../$f" on/; done', HAVE, {"on/*.conf": "../have/*.conf"}),
    ("cd on && ln -s ../have/*.conf .", HAVE, {"on/*.conf": "../have/*.conf"}),
    ('for f in have/*.conf; do ln -s $f "$(basename $f .conf)"; done', {"ann": "have/ann.conf"}, {"*": "have/*.conf"}),
    ('latest=$(ls -t have | head -1); ln -sf "have/$latest" conf', {"conf": "have/bob.conf"}, {"conf": "have/*"}),
)  # fmt: skip


@pytest.mark.parametrize(("command", "made", "stated"), LINKS)
def test_a_link_is_stated_by_what_the_commands_name_of_it(
    command: str, made: Mapping[str, str], stated: Mapping[str, str]
) -> None:
    files = {"have/ann.conf": "x", "have/bob.conf": "y"}
    after = Folder(files, state={f"{link}: target": target for link, target in made.items()})
    found = candidates(Folder(files), after, [command], ())

    assert {one.path.removesuffix(": target"): one.argument for one in found} == stated


def test_a_link_of_a_pattern_leads_to_the_file_of_its_own_name() -> None:
    files = {"have/ann.conf": "x"}
    shown = Folder(files, state={"on/ann.conf: target": "../have/ann.conf"})
    (one,) = candidates(Folder(files), shown, ['for f in have/*.conf; do ln -s "../$f" on/; done'], ())

    assert one.statement == "Every link on/*.conf leads to ../have/*.conf"
    others = {"on/cyd.conf: target": "../have/cyd.conf", "on/dee.conf: target": "../have/dee.conf"}
    assert objection(one, Folder(), Folder(state=others)) is None
    assert objection(one, Folder(), Folder(state=others | {"on/dee.conf: target": "../have/cyd.conf"}))
    assert objection(one, Folder(), Folder())
    assert objection(one, Folder(state=others), Folder(state=others))
