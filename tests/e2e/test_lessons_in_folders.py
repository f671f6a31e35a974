"""Lessons in several folders: each as it was before anything was done in it, rehearsed and tried side by side."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from host.folder_archive import ArchiveLimits, pack_folders, unpack_folder
from tests.e2e.test_ability_trial import ended, handed_in_archive
from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

LIMITS = ArchiveLimits(1_000, 10_000_000)
PUBLISHING = (
    "mkdir out",
    'for f in raw/*.txt; do tr a-z A-Z < "$f" > "out/$(basename "$f")"; done',
    "ls ~/site",
    "cp out/*.txt ~/site/img",
    "cd ~/site",
    "ls img > index.txt",
    "git add -A",
    "git commit -qm 'Publish the texts'",
)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def published_from(home: Path, names: Sequence[str]) -> None:
    """The two folders of the lesson below ``home``."""
    (home / "photos" / "raw").mkdir(parents=True)
    for name in names:
        (home / "photos" / "raw" / f"{name}.txt").write_text(f"{name}\n")
    (home / "site" / "img").mkdir(parents=True)
    (home / "site" / "img" / "old.txt").write_text("old\n")
    (home / "site" / "style.css").write_text("body {}\n")
    git(home / "site", "init", "-q", "-b", "main")
    git(home / "site", "add", "-A")
    git(home / "site", "commit", "-qm", "Start")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of one's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@localhost\n")
    monkeypatch.setenv("HOME", str(folder))
    return folder


async def taught(
    stack: Stack, folder: Path, commands: Sequence[str], goal: str
) -> tuple[Learner, dict[str, str]]:
    """A drafted lesson of these commands, and its files."""
    alice = stack.learner()
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": goal})
    async with served(stack) as api:
        await record(alice, api, folder, commands)
    await alice.act("stop")
    await alice.propose()
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    return alice, {file["path"]: file["content"] for file in files["files"]}


async def steps_of(alice: Learner) -> dict[str, str]:
    """How each case of the proposal's validation went."""
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    return {step["test_case_id"]: step["result"] for step in runs["steps"]}


async def states_of(alice: Learner) -> list[dict[str, Any]]:
    listed = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/starting-states")
    found: list[dict[str, Any]] = listed["starting_states"]
    return found


async def test_a_lesson_in_two_folders_is_proved_installed_and_tried_in_both(
    stack: Stack, home: Path, tmp_path: Path
) -> None:
    published_from(home, ("anna", "ben", "cleo"))
    alice, files = await taught(stack, home / "photos", PUBLISHING, "Publish the texts on the site")
    assert "The folder photos; in the demonstration this was ~/photos" in files["SKILL.md"]
    assert "The folder site; in the demonstration this was ~/site" in files["SKILL.md"]
    assert "In git in site, commits are 1 more than before" in files["SKILL.md"]
    assert "(in `site`)" in files["references/demonstration.md"]
    assert str(home) not in "".join(files.values())

    # The site is kept as it was before the first command that named it, with the pictures not yet there.
    (state,) = await states_of(alice)
    kept = {entry["path"] for entry in state["entries"]}
    assert {"photos/raw/anna.txt", "site/img/old.txt", "site/style.css", "site/.git/HEAD"} <= kept
    assert not {"site/img/anna.txt", "site/index.txt", "photos/out"} & kept

    assert await alice.prove() == "ready_for_review"
    results = await steps_of(alice)
    assert {result for case, result in results.items() if case.startswith("rehearsal/")} == {"passed"}
    assert not any(case.startswith("rehearsal/unrehearsed") for case in results)
    await alice.propose_act("approve")

    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    ability_id = entry["ability_id"]
    detail = await alice.ok("GET", f"/api/abilities/{ability_id}")
    assert [(one["name"], one["path"], one["shown"]) for one in detail["folders"]] == [
        ("photos", "photos", "~/photos"),
        ("site", "site", "~/site"),
    ]
    other = tmp_path / "other"
    published_from(other, ("dora", "emil"))
    archive = pack_folders({"photos": other / "photos", "site": other / "site"}, LIMITS)
    body = {"folder_ref": await handed_in_archive(alice, archive)}
    run = await ended(
        alice, (await alice.ok("POST", f"/api/abilities/{ability_id}/trials", body))["trial_id"]
    )
    assert run["state"] == "passed", run
    out = tmp_path / "out"
    out.mkdir()
    result = await alice.call("GET", f"/api/abilities/trials/{run['trial_id']}/result")
    unpack_folder(result.content, out, LIMITS)
    assert (out / "site" / "img" / "dora.txt").read_text() == "DORA\n"
    assert (out / "site" / "index.txt").read_text().split() == ["dora.txt", "emil.txt", "old.txt"]
    assert git(out / "site", "log", "--format=%s").splitlines() == ["Publish the texts", "Start"]
    assert not (other / "site" / "index.txt").exists()

    body = {"folder_ref": await handed_in_archive(alice, pack_folders({"photos": other / "photos"}, LIMITS))}
    run = await ended(
        alice, (await alice.ok("POST", f"/api/abilities/{ability_id}/trials", body))["trial_id"]
    )
    assert run["state"] == "failed"
    assert "no folder site" in run["note"]


async def rehearsed(alice: Learner) -> None:
    """Proves the lesson, all of it."""
    state, results = await alice.prove(), await steps_of(alice)
    assert state == "ready_for_review", {case: r for case, r in results.items() if r == "failed"}
    assert {result for case, result in results.items() if case.startswith("rehearsal/")} == {"passed"}
    assert any(case.startswith("rehearsal/condition") for case in results)


async def test_a_path_to_the_folder_beside_stays_as_it_was_shown(stack: Stack, home: Path) -> None:
    for folder, names in (("laptop", "abc"), ("usb", "a")):
        (home / folder).mkdir()
        for name in names:
            (home / folder / f"{name}.txt").write_text(f"{name}\n")
    listing = "comm -23 <(find . -type f | sort) <(cd ../usb && find . -type f | sort) > ../usb/missing.txt"
    copying = 'while read -r one; do cp "$one" "../usb/$one"; done < ../usb/missing.txt'
    alice, files = await taught(stack, home / "laptop", (listing, copying), "Copy what the stick lacks")
    assert listing in files["references/demonstration.md"]
    assert "< ../usb/missing.txt" in files["SKILL.md"]
    await rehearsed(alice)


async def test_a_folder_that_the_lesson_makes_is_no_input(stack: Stack, home: Path) -> None:
    (home / "data").mkdir()
    for name in ("north", "south"):
        (home / "data" / f"{name}.csv").write_text(f"{name},1\n")
    shown = ("mkdir ~/backup", "cp *.csv ~/backup", "cd ~/backup", "sha256sum *.csv > SUMS")
    alice, _ = await taught(stack, home / "data", shown, "Back up the tables with their checksums")
    (state,) = await states_of(alice)
    assert {entry["path"] for entry in state["entries"]} == {"data", "data/north.csv", "data/south.csv"}
    await rehearsed(alice)


async def test_a_folder_above_the_first_one_keeps_both_as_they_were(stack: Stack, home: Path) -> None:
    (home / "books" / "2024").mkdir(parents=True)
    (home / "books" / "2023.tgz").write_text("old\n")
    (home / "books" / "2024" / "b.txt").write_text("b\n")
    (home / "books" / "2024" / "a.txt").write_text("a\n")
    shown = ("cat a.txt b.txt > all.txt", "cd ..", "tar czf 2024.tgz 2024", "tar tzf 2024.tgz > 2024.list")
    alice, _ = await taught(stack, home / "books" / "2024", shown, "Pack the books of the year")
    (state,) = await states_of(alice)
    assert {entry["path"] for entry in state["entries"]} == {
        "2024",
        "2024/a.txt",
        "2024/b.txt",
        "2023.tgz",
    }
    await rehearsed(alice)


async def test_a_folder_reached_by_a_link_and_by_a_variable_is_the_same_one(stack: Stack, home: Path) -> None:
    (home / "notes").mkdir()
    (home / "notes" / "today.md").write_text("# Today\n")
    (home / "releases" / "v2" / "docs").mkdir(parents=True)
    (home / "releases" / "v2" / "docs" / "first.md").write_text("# First\n")
    (home / "current").symlink_to("releases/v2")
    shown = (
        "DOCS=~/current/docs",
        'cp today.md "$DOCS"',
        "cd ~/current",
        "cat docs/*.md > all.md",
        f"wc -l < {home}/releases/v2/all.md > ~/current/docs/count.txt",
    )
    alice, files = await taught(stack, home / "notes", shown, "Publish the notes in the current release")
    assert "`{folder}/*.md`" in files["SKILL.md"]
    assert "wc -l < all.md > {folder}/count.txt" in files["references/demonstration.md"]
    (state,) = await states_of(alice)
    assert {entry["path"] for entry in state["entries"] if entry["kind"] == "file"} == {
        "notes/today.md",
        "releases/v2/docs/first.md",
    }
    await rehearsed(alice)


async def test_a_folder_that_was_only_looked_at_is_not_kept(stack: Stack, home: Path) -> None:
    (home / "desk").mkdir()
    (home / "desk" / "list.txt").write_text("b\na\n")
    (home / "letters").mkdir()
    (home / "letters" / "private.txt").write_text("dear anna\n")
    shown = (
        "sort list.txt > s.txt",
        "cd ~/letters",
        "ls -l",
        "cat private.txt",
        "cd -",
        "uniq s.txt > u.txt",
    )
    alice, files = await taught(stack, home / "desk", shown, "Sort the list without repetitions")
    (state,) = await states_of(alice)
    assert {entry["path"] for entry in state["entries"]} == {"list.txt"}
    assert "letters" not in "".join(files.values())
    await rehearsed(alice)


async def test_two_demonstrations_in_two_folders_are_compared_and_both_rehearsed(
    stack: Stack, home: Path
) -> None:
    for name in ("anna", "ben"):
        (home / "letters").mkdir(exist_ok=True)
        (home / "letters" / f"{name}.txt").write_text(f"{name}\nb\na\n")
    (home / "post").mkdir()
    (home / "post" / "old.txt").write_text("old\n")
    alice = stack.learner()
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Put a letter in order for the post"})
    for name in ("anna", "ben"):
        async with served(stack) as api:
            await record(
                alice,
                api,
                home / "letters",
                (
                    f"sort {name}.txt > {name}.sorted",
                    f"cp {name}.sorted ~/post",
                    "cd ~/post",
                    "ls > list.txt",
                ),
            )
        if name == "anna":
            await alice.act("pause")
            await alice.act("resume", {"new_demonstration": True})
    await alice.act("stop")
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert [(p["name"], p["examples"]) for p in detail["interpretation"]["parameters"]] == [
        ("letter", ["anna", "ben"])
    ]
    assert await alice.prove() == "ready_for_review"
    results = await steps_of(alice)
    rehearsal = {case: result for case, result in results.items() if case.startswith("rehearsal/")}
    assert set(rehearsal.values()) == {"passed"}
    assert "rehearsal/demonstration-2/command-03" in rehearsal
