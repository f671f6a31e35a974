"""Lessons on changed texts: a git merge with conflicts, a patch that has to pass its tests."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from tests.lessons.lesson import Lesson
from tests.lessons.second.folders import commit, files_below, git, repository, text_of, write


@dataclass(frozen=True)
class _Merge:
    """A settings file in four states, and the branch to be merged."""

    file: str
    branch: str
    before: str
    ours: str
    theirs: str
    merged: str


def _settings(prices: str, saturday: str, post: str, footer: str) -> str:
    return (
        "[shop]\nname = Corner Books\ncurrency = EUR\n\n"
        f"[prices]\n{prices}\n[opening]\nmonday = 09:00-18:00\ntuesday = 09:00-18:00\n"
        f"wednesday = 09:00-13:00\nsaturday = {saturday}\n\n[post]\n{post}\n[mail]\n"
        f"sender = office@shop.example\nreply = yes\ncopies = 1\nfooter = {footer}\n"
    )


_DEMO_MERGE = _Merge(
    "settings.ini",
    "new-prices",
    _settings(
        "standard = 12.00\nreduced = 9.00\n", "10:00-14:00", "letter = 1.10\nparcel = 5.50\n", "Kind regards"
    ),
    _settings(
        "standard = 12.50\nreduced = 9.00\n", "09:30-15:00", "letter = 1.20\nparcel = 5.50\n", "Kind regards"
    ),
    _settings(
        "standard = 13.00\nreduced = 10.00\ngroup = 45.00\n",
        "10:00-14:00",
        "letter = 1.25\nparcel = 6.20\n",
        "With kind regards",
    ),
    _settings(
        "standard = 13.00\nreduced = 10.00\ngroup = 45.00\n",
        "09:30-15:00",
        "letter = 1.25\nparcel = 6.20\n",
        "With kind regards",
    ),
)


def _museum(hall: str, tour: str, closed: str, guide: str, tea: str) -> str:
    return (
        f"# Museum on the Hill\n[tickets]\nhall = {hall}\n\n\n"
        "[calendar]\nfirst_day = 01-04\nlast_day = 31-10\n"
        f"closed = {closed}\n\n\n[tours]\nlanguages = de en\nseats = 20\nprice = {tour}\n\n\n"
        f"[guide]\ntext = {guide}\npages = 8\ncover = blue\n\n\n[coffee house]\nseats = 30\ntea = {tea}\n\n\n"
        "[print]\npaper = A4\nmargin = 12\n"
    )


_OTHER_MERGE = _Merge(
    "museum.ini",
    "autumn-season",
    _museum("8.00", "4.00", "monday", "short", "2.80"),
    _museum("8.50", "4.20", "monday tuesday", "short", "3.10"),
    _museum("9.00\nfamily = 21.00\nschool = 30.00", "5.00", "monday", "long", "3.40"),
    _museum("9.00\nfamily = 21.00\nschool = 30.00", "5.00", "monday tuesday", "long", "3.40"),
)


def _write_merge(folder: Path, merge: _Merge) -> None:
    repository(folder)
    write(folder / merge.file, merge.before)
    write(folder / "news.txt", "No news yet.\n")
    commit(folder, "Settings of the house", "2025-01-15")
    git(folder, "checkout", "--quiet", "-b", merge.branch)
    write(folder / merge.file, merge.theirs)
    write(folder / "prices" / "sign at the door.txt", "New prices from the first of the month.\n")
    commit(folder, "Prices as decided", "2025-02-03")
    git(folder, "checkout", "--quiet", "main")
    write(folder / merge.file, merge.ours)
    write(folder / "news.txt", "We changed our opening days.\n")
    commit(folder, "Opening days and small changes", "2025-02-10")


def _prepare_merge(folder: Path) -> None:
    _write_merge(folder, _DEMO_MERGE)


def _other_merge(folder: Path) -> None:
    _write_merge(folder, _OTHER_MERGE)


def _check_merge(folder: Path) -> None:
    assert text_of(folder / _OTHER_MERGE.file) == _OTHER_MERGE.merged
    assert text_of(folder / "news.txt") == "We changed our opening days.\n"
    assert git(folder, "symbolic-ref", "--short", "HEAD").strip() == "main"
    assert git(folder, "status", "--porcelain") == "", "something is not committed"
    head = git(folder, "log", "-1", "--format=%s|%P").strip()
    subject, _, parents = head.partition("|")
    assert subject == "Merge the new prices"
    first, second = parents.split()
    assert git(folder, "log", "-1", "--format=%s", first).strip() == "Opening days and small changes"
    assert second == git(folder, "rev-parse", _OTHER_MERGE.branch).strip()
    assert git(folder, "show", f"HEAD:{_OTHER_MERGE.file}") == _OTHER_MERGE.merged


MERGE = Lesson(
    name="merge_with_the_branchs_prices",
    goal="Merge the branch new-prices; where the settings conflict, the branch's lines win; commit the merge",
    prepare=_prepare_merge,
    typed=(
        "git status",
        "git --no-pager log --oneline --graph --all",
        "git --no-pager diff main...new-prices",
        "git merge new-prices",
        "git status",
        "cat settings.ini",
        "git checkout --theirs settings.ini",
        "git --no-pager diff main -- settings.ini",
        "git checkout --merge settings.ini",
        "ed -s settings.ini\ng/^<<<<<<< /.,/^=======$/d\ng/^>>>>>>> /d\nw\nq",
        "grep -n -e '^<<<<<<<' -e '^=======' -e '^>>>>>>>' settings.ini",
        "git --no-pager diff main -- settings.ini",
        "git add settings.ini",
        "git comit -m 'Merge the new prices'",
        "git commit -m 'Merge the new prices'",
        "git --no-pager log --oneline --graph -n 4",
        "git status",
    ),
    facts=(
        ("git merge",),
        (
            "g/^<<<<<<< /.,/^=======$/d",
            "the branch's lines win",
            "keep the lines of the branch",
            "delete our side of each conflict",
            "take the incoming lines",
        ),
        ("g/^>>>>>>> /d", "no conflict markers", "remove the conflict markers", "without conflict markers"),
        ("git add",),
        ("Merge the new prices",),
    ),
    absent=("git comit", "checkout --theirs"),
    parameters=("new-prices", "settings.ini"),
    finds=(
        "bring the branch into main and resolve the conflicts in the configuration",
        "combine two versions of the settings, the feature branch has priority",
        "git stopped with merge conflicts in the ini file, settle them and commit",
    ),
    near_misses=(
        "abort the merge and delete the branch with the new prices",
        "create a branch for the new prices and change the settings there",
        "revert the commit that merged the prices",
    ),
    other=_other_merge,
    other_values={"new-prices": "autumn-season", "settings.ini": "museum.ini"},
    check=_check_merge,
)


@dataclass(frozen=True)
class _Fix:
    """Files before and after a patch, and the test cases: command, arguments, what must be printed."""

    patch: str
    before: dict[str, str]
    after: dict[str, str]
    cases: tuple[tuple[str, str, str], ...]

    def patch_text(self) -> str:
        """The patch as it lies in the folder, with the path parts a/ and b/."""
        parts: list[str] = []
        for name, text in self.before.items():
            old, new = text.splitlines(keepends=True), self.after[name].splitlines(keepends=True)
            parts += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
        return "".join(parts)

    def test_text(self) -> str:
        """The test script that lies in the folder."""
        calls = "".join(f"expect {script} '{words}' '{result}'\n" for script, words, result in self.cases)
        return (
            "passed=0\nfailed=0\nexpect() {\n"
            '  found=$(sh "$1" $2)\n'
            '  if [ "$found" = "$3" ]; then passed=$((passed + 1)); echo "ok      $1 $2"\n'
            '  else failed=$((failed + 1)); echo "FAILED  $1 $2: $found, not $3"; fi\n'
            f'}}\n{calls}echo "$passed passed, $failed failed"\n[ "$failed" -eq 0 ]\n'
        )

    def result_text(self) -> str:
        """What the tests print when all of them pass."""
        lines = "".join(f"ok      {script} {words}\n" for script, words, _ in self.cases)
        return f"{lines}{len(self.cases)} passed, 0 failed\n"


def _price(comparison: str, rate: str) -> str:
    return (
        "# price.sh PIECES UNIT_PRICE: prints the total, with a discount for large orders\n"
        "pieces=$1\nunit=$2\n\ndiscount=0\n"
        f'if [ "$pieces" {comparison} 10 ]; then\n  discount={rate}\nfi\n\n'
        'awk -v n="$pieces" -v p="$unit" -v d="$discount" \\\n'
        "  'BEGIN { printf \"%.2f\\n\", n * p * (100 - d) / 100 }'\n"
    )


_DISCOUNT = _Fix(
    "fix-discount.patch",
    {"price.sh": _price("-gt", "4")},
    {"price.sh": _price("-ge", "5")},
    (("price.sh", "1 12.00", "12.00"), ("price.sh", "10 2.00", "19.00"), ("price.sh", "20 5.00", "95.00")),
)


def _postage(limit: int) -> str:
    return (
        "# postage.sh GRAMS: prints the postage of a letter\ngrams=$1\n\n"
        f'if [ "$grams" -le {limit} ]; then\n  echo 0.95\nelse\n  echo 1.80\nfi\n'
    )


def _zone(third: str) -> str:
    return (
        "# zone.sh COUNTRY: prints the zone of a country\n"
        f'case "$1" in\n  DE) echo 1 ;;\n  AT|CH|FR) echo 2 ;;\n  {third}) echo 3 ;;\n'
        "  *) echo unknown ;;\nesac\n"
    )


_POSTAGE = _Fix(
    "fix-postage.patch",
    {"postage.sh": _postage(25), "lib/zone.sh": _zone("NO")},
    {"postage.sh": _postage(20), "lib/zone.sh": _zone("NO|SE|FI")},
    (
        ("postage.sh", "20", "0.95"),
        ("postage.sh", "21", "1.80"),
        ("postage.sh", "300", "1.80"),
        ("lib/zone.sh", "DE", "1"),
        ("lib/zone.sh", "SE", "3"),
    ),
)


def _write_fix(folder: Path, fix: _Fix) -> None:
    for name, text in fix.before.items():
        write(folder / name, text)
    write(folder / fix.patch, fix.patch_text())
    write(folder / "run_tests.sh", fix.test_text(), 0o644)


def _prepare_patch(folder: Path) -> None:
    _write_fix(folder, _DISCOUNT)
    write(folder / "README.txt", "Prices of the shop. Tests: run_tests.sh\n")


def _other_patch(folder: Path) -> None:
    _write_fix(folder, _POSTAGE)


def _check_patch(folder: Path) -> None:
    for name, text in _POSTAGE.after.items():
        assert text_of(folder / name) == text
    assert text_of(folder / "run_tests.sh") == _POSTAGE.test_text()
    assert text_of(folder / "test_result.txt") == _POSTAGE.result_text()
    assert text_of(folder / "applied" / _POSTAGE.patch) == _POSTAGE.patch_text()
    assert files_below(folder) == sorted(
        [*_POSTAGE.after, "run_tests.sh", "test_result.txt", f"applied/{_POSTAGE.patch}"]
    )


PATCH = Lesson(
    name="apply_a_patch_and_test",
    goal="Apply the patch that lies in the folder, run the tests, keep the result, file the patch in applied",
    prepare=_prepare_patch,
    typed=(
        "ls -l",
        "cat fix-discount.patch",
        "./run_tests.sh",
        "bash run_tests.sh",
        "patch -p1 --dry-run < fix-discuont.patch",
        "patch -p1 --dry-run < fix-discount.patch",
        "patch -p1 < fix-discount.patch",
        "bash run_tests.sh",
        "bash run_tests.sh > test_result.txt",
        "tail -n 1 test_result.txt",
        "mkdir -p applied",
        "mv fix-discount.patch applied/",
        "ls -R",
    ),
    facts=(
        ("-p1", "first part of the path is cut off", "strip one leading"),
        ("run_tests.sh",),
        ("test_result.txt",),
        ("applied",),
    ),
    absent=("discuont", "./run_tests.sh"),
    parameters=("fix-discount.patch",),
    finds=(
        "put the correction from the diff file into the scripts and see whether the tests pass",
        "install a fix that came as a patch file, then test it",
        "use patch on this folder and record the outcome of the test script",
    ),
    near_misses=(
        "create a patch file from my changes in the folder",
        "take the patch back and restore the old script",
        "write more tests for the script in the folder",
    ),
    other=_other_patch,
    other_values={"fix-discount.patch": "fix-postage.patch"},
    check=_check_patch,
)

LESSONS = (MERGE, PATCH)
