"""What tools make for themselves falls away; what was asked for stays, wherever it lies. Listings are of real tools."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts.generated_trees import GeneratedTrees, generated_in, is_tree_by_name

CMAKE = (
    "CMakeCache.txt CMakeFiles/TargetDirectories.txt CMakeFiles/hello.dir/main.c.o CTestTestfile.cmake"
    " cmake_install.cmake Testing/Temporary/LastTest.log"
)
CASES = {
    "a virtual environment by another name": (
        "tools/pyvenv.cfg tools/bin/python tools/lib/python3.11/site-packages/tabulate.py tools/lib64",
        {"tools"},
        "report.txt",
    ),
    "one that a project lies in": (
        "hours/pyvenv.cfg hours/bin/python hours/lib64 hours/.gitignore",
        {"hours"},
        "hours/report.py hours/out/may.txt",
    ),
    "one of uv, which is marked as a cache too": (
        "env/CACHEDIR.TAG env/.gitignore env/.lock env/pyvenv.cfg env/bin/python",
        {"env"},
        "env/notes.txt",
    ),
    "a folder of settings that is called env": ("", set(), "env/production.txt venv/list.txt .venv/x"),
    "an environment of conda": (
        "science/conda-meta/history science/bin/python science/ssl/cert.pem",
        {"science"},
        "science.txt",
    ),
    "packages of npm, of a part too": (
        "node_modules/.package-lock.json part/node_modules/dep/package.json",
        {"node_modules", "part/node_modules"},
        "package.json package-lock.json dist/app.js",
    ),
    "a build of CMake in a folder of its own": (
        " ".join(f"out/{one}" for one in (*CMAKE.split(), "Makefile")),
        {"out"},
        "out/hello out/libutil.a CMakeLists.txt main.c",
    ),
    "one by Ninja, with a part": (
        "b/CMakeCache.txt b/CMakeFiles/rules.ninja b/build.ninja b/.ninja_log b/.ninja_deps"
        " b/part/CMakeFiles/progress.marks b/part/cmake_install.cmake",
        {"b", "b/part"},
        "b/part/libpart.so part/CMakeLists.txt",
    ),
    "a build of Cargo": (
        "target/.rustc_info.json target/CACHEDIR.TAG target/debug/.cargo-lock target/debug/.fingerprint/hi-c9/bin-hi"
        " target/debug/deps/hi-c9 target/debug/incremental/hi-1/s.lock target/debug/hi.d",
        {"target", "target/debug"},
        "target/debug/hi target/doc/hi/index.html src/main.rs",
    ),
    "a folder target of somebody's own": ("", set(), "target/summary.csv target/deps/list.txt"),
    "a build of setuptools": (
        "build/bdist.linux-x86_64 build/lib/hours/__init__.py hours.egg-info/PKG-INFO",
        {"build", "hours.egg-info"},
        "build/report.html dist/hours-1.0.linux-x86_64.tar.gz hours/__init__.py",
    ),
    "a release and what a Makefile builds": (
        "",
        set(),
        "dist/release.tar.gz build/main.o build/lib/index.html Makefile build.ninja",
    ),
    "caches": (
        ".pytest_cache/README.md .ruff_cache/0.17.5/29 src/__pycache__/a.cpython-311.pyc .tox/py311/log.txt"
        " thumbs/CACHEDIR.TAG thumbs/ab/1.png",
        {".pytest_cache", ".ruff_cache", "src/__pycache__", ".tox", "thumbs"},
        "thumbs.csv src/a.py",
    ),
}


@pytest.mark.parametrize(("generated", "trees", "wanted"), CASES.values(), ids=CASES)
def test_what_tools_make_is_told_from_what_was_wanted(generated: str, trees: set[str], wanted: str) -> None:
    found = GeneratedTrees([*generated.split(), *wanted.split()])
    assert {found.tree_of(path) for path in generated.split()} == trees
    assert {found.tree_of(path) for path in wanted.split()} == {None}


def test_a_build_within_the_folder_of_its_sources_is_told_by_its_own_files() -> None:
    generated, wanted = [*CMAKE.split(), "Makefile"], ["CMakeLists.txt", "main.c", "hello", "Testing.txt"]
    found = GeneratedTrees([*generated, *wanted])
    assert [found.tree_of(path) for path in generated] == [path.split("/")[0] for path in generated]
    assert {found.tree_of(path) for path in wanted} == {None}
    assert generated_in({"Makefile", "Testing", "main.c"}) == set()


def test_the_folder_itself_is_no_cache_whatever_it_holds() -> None:
    found = GeneratedTrees(["CACHEDIR.TAG", "conda-meta/history", "notes.txt", "sub/__pycache__/a.pyc"])
    assert [found.tree_of(path) for path in ("notes.txt", "sub/__pycache__/a.pyc")] == [
        None,
        "sub/__pycache__",
    ]


def test_a_repository_counts_as_one_tree_and_its_rules_as_files() -> None:
    found = GeneratedTrees([])
    assert [found.tree_of(one) for one in ("sub/.git/index", ".git", ".gitignore")] == [
        "sub/.git",
        ".git",
        None,
    ]
    assert not is_tree_by_name(".git")


def test_an_environment_that_python_makes_is_one_tree(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "any name"], cwd=tmp_path, check=True)
    paths = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*/*")]
    assert {GeneratedTrees(paths).tree_of(path) for path in paths} == {"any name"}
