"""A lesson on a repository: a release with its version file, change log, commit and annotated tag."""

from pathlib import Path

from tests.lessons.first.folders import commit, git, make_repository, read, write
from tests.lessons.lesson import Lesson

OLDER = "\n## 1.3.2 (2025-02-04)\n\n- Unreleased builds show their date.\n- Empty lines are skipped.\n"
NEWER = "\n## 1.9.7 (2025-04-22)\n\n- The heading\n## Unreleased items\n  is read as text.\n"


def _repository(folder: Path, version: str, changes: str, older: str, sources: tuple[str, ...]) -> None:
    make_repository(folder)
    write(folder / "VERSION", f"{version}\n")
    write(folder / "CHANGELOG.md", f"# Changes\n{older}")
    for name in sources:
        write(folder / "src" / name, f"# {name}\n")
    commit(folder, f"Release {version}", "2025-02-04T10:00:00+00:00")
    git(folder, "tag", "-a", f"v{version}", "-m", f"Release {version}", when="2025-02-04T10:01:00+00:00")
    write(folder / "src" / sources[0], f"# {sources[0]}\nwidth = 80\n")
    write(folder / "CHANGELOG.md", f"# Changes\n\n## Unreleased\n\n{changes}{older}")
    commit(folder, "Widen the lines", "2025-05-20T15:30:00+00:00")
    write(folder / "open points.txt", "ask about the width on paper\n")


def _first(folder: Path) -> None:
    _repository(folder, "1.3.2", "- Lines may have 80 characters.\n", OLDER, ("lines.py", "read.py"))


def _second(folder: Path) -> None:
    changes = "- Lines may have 80 characters.\n- The option --old is gone.\n"
    _repository(folder, "1.9.7", changes, NEWER, ("width.py", "lines.py", "paper.py"))


def _check(folder: Path) -> None:
    changes = "- Lines may have 80 characters.\n- The option --old is gone.\n"
    assert read(folder / "VERSION") == "2.0.0\n"
    assert read(folder / "CHANGELOG.md") == f"# Changes\n\n## 2.0.0 (2025-09-03)\n\n{changes}{NEWER}"
    assert git(folder, "log", "--format=%s").splitlines() == [
        "Release 2.0.0",
        "Widen the lines",
        "Release 1.9.7",
    ]
    assert git(folder, "diff", "--name-only", "HEAD~1", "HEAD").split() == ["CHANGELOG.md", "VERSION"]
    assert git(folder, "status", "--porcelain").splitlines() == ['?? "open points.txt"']
    assert git(folder, "tag", "--list").split() == ["v1.9.7", "v2.0.0"]
    assert git(folder, "cat-file", "-t", "v2.0.0") == "tag"
    assert git(folder, "rev-parse", "v2.0.0^{commit}") == git(folder, "rev-parse", "HEAD")
    assert git(folder, "for-each-ref", "--format=%(contents:subject)", "refs/tags/v2.0.0") == "Release 2.0.0"


RELEASE = Lesson(
    name="tag_a_release",
    goal="Make release 1.4.0: set the version, give the change log its heading and date, commit and tag it",
    prepare=_first,
    typed=(
        "git status --short",
        "cat VERSION; head -n 8 CHANGELOG.md",
        "git --no-pager log --oneline",
        "git cat-file -t v1.3.2; git --no-pager tag -n",
        "echo 1.4.0 > VERSION",
        "sed -i 's/^## Unreleased$/## 1.4.0 (2025-06-12)/' CHANGELOG.md",
        "git --no-pager diff",
        "git add VERSION CHANGELOG.md",
        "git comit -m 'Release 1.4.0'",
        "git commit -m 'Release 1.4.0'",
        "git tag v1.4.0",
        "git cat-file -t v1.4.0",
        "git tag -d v1.4.0",
        "git tag -a v1.4.0 -m 'Release 1.4.0'",
        "git cat-file -t v1.4.0",
        "git --no-pager log --oneline --decorate -n 2; git status --short",
    ),
    facts=(
        ("> VERSION", "file VERSION", "version file"),
        ("^## Unreleased$", "heading Unreleased", "replace Unreleased"),
        ("git add VERSION CHANGELOG.md", "commit only VERSION and CHANGELOG.md", "only these two files"),
        ("git tag -a", "git tag -m", "annotated tag", "--annotate"),
        ("git tag -a v", "tag begins with v", "name of the tag is v", "letter v"),
        ("'Release ", '"Release ', "message Release"),
    ),
    absent=("git comit", "git tag -d", "open points", "log --oneline"),
    parameters=("1.4.0", "2025-06-12"),
    finds=(
        "publish a new version in git with an annotated tag",
        "bump the version number and the changelog and tag the commit",
        "prepare the next release of the repository",
    ),
    near_misses=(
        "list the tags of the releases with their dates",
        "delete the tag of a release",
        "go back to the version before the last release",
    ),
    other=_second,
    other_values={"1.4.0": "2.0.0", "2025-06-12": "2025-09-03"},
    check=_check,
)

LESSONS = (RELEASE,)
