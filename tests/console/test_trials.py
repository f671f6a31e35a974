"""A learned method tried on another folder, in a real browser against the real application."""

import base64
from pathlib import Path

import pytest
from playwright.async_api import expect

from host.folder_archive import ArchiveLimits, unpack_folder
from tests.console.conftest import PATIENCE_MS, Console
from tests.e2e.test_ability_trial import folder_with_git, taught
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

LIMITS = ArchiveLimits(100, 1_000_000)
TITLE = "Try it on another folder"


async def test_a_method_is_tried_on_a_chosen_folder_and_its_result_is_saved(
    console: Console, stack: Stack, tmp_path: Path
) -> None:
    page = console.page
    learner, ability_id = await taught(stack)
    detail = await learner.ok("GET", f"/api/abilities/{ability_id}")
    names = {one["shown"]: one["name"] for one in detail["parameters"]}
    await console.sign_in()
    await console.open(f"skills/{ability_id}")
    card = page.get_by_role("region", name=TITLE)
    field = card.get_by_label(names["q3"], exact=True)
    await expect(field).to_have_attribute("placeholder", "q3")

    await card.get_by_role("button", name="Try it").click()
    await expect(page.get_by_role("alert")).to_contain_text("Choose one that has files in it")
    await expect(card.get_by_label("Folder", exact=True)).to_be_focused()

    folder = folder_with_git(tmp_path)
    await card.get_by_label("Folder", exact=True).set_input_files(folder)
    await field.fill("q1")
    await card.get_by_label(names["anna"], exact=True).fill("it's $(touch x)")
    await card.get_by_role("button", name="Try it").click()
    trial = card.get_by_role("list", name="What was run")
    await expect(trial).to_contain_text("q1")
    await expect(card.get_by_role("heading", name="This trial").locator("..")).to_contain_text("Passed")
    await expect(card).to_contain_text("It was taught without conditions: look at the result yourself")
    await expect(field).to_have_value("q1")

    async with page.expect_download() as started:
        await card.get_by_role("button", name="Save the resulting folder").click()
    saved = await started.value
    assert saved.suggested_filename.endswith("-result.tar.gz")
    out = tmp_path / "out"
    out.mkdir()
    unpack_folder(Path(await saved.path()).read_bytes(), out, LIMITS)
    assert (out / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (out / "notes.txt").read_text() == "kept\n"
    assert any("q1" in one.name for one in out.rglob("*"))

    # Its address names the trial, so that a page that is loaded again still shows it.
    await page.reload()
    await expect(trial).to_contain_text("q1")
    # What looks again meanwhile may find that it is gone.
    console.refusals.add(404)
    await card.get_by_role("button", name="Delete it…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(trial).to_have_count(0)
    assert page.url.endswith(f"#/skills/{ability_id}")


async def test_a_value_that_cannot_be_put_in_is_refused_at_its_field(
    console: Console, stack: Stack, tmp_path: Path
) -> None:
    page = console.page
    learner, ability_id = await taught(stack)
    detail = await learner.ok("GET", f"/api/abilities/{ability_id}")
    (name,) = (one["name"] for one in detail["parameters"] if one["shown"] == "q3")
    await console.sign_in()
    await console.open(f"skills/{ability_id}")
    card = page.get_by_role("region", name=TITLE)
    await card.get_by_label("Folder", exact=True).set_input_files(folder_with_git(tmp_path))
    console.refusals.add(422)
    await card.get_by_role("button", name="Try it").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(card.get_by_label(name, exact=True)).to_have_attribute("aria-invalid", "true")


async def test_a_trial_that_is_gone_says_so_and_the_page_stays_whole(console: Console, stack: Stack) -> None:
    _, ability_id = await taught(stack)
    await console.sign_in()
    console.refusals.add(404)
    await console.open(f"skills/{ability_id}/0199aa10-7c00-7000-8000-000000000001")
    card = console.page.get_by_role("region", name=TITLE)
    await expect(card).to_contain_text("This trial is gone")
    await expect(card.get_by_role("button", name="Try it")).to_be_enabled()


async def test_folders_are_packed_whatever_their_files_are_called(console: Console, tmp_path: Path) -> None:
    await console.page.goto(console.url)
    archive: str = await console.page.evaluate(
        """async () => {
            const { packed } = await import("/console/static/folder_archive.js");
            const file = (path, text) => {
                const made = new File([text], path.split("/").at(-1), { lastModified: 1_700_000_000_000 });
                Object.defineProperty(made, "webkitRelativePath", { value: path });
                return made;
            };
            const deep = Array.from({ length: 12 }, (_, at) => `folder-${at}-of-many`).join("/");
            const archive = await packed([
                [
                    "first",
                    [file("x/größe ✓.txt", "a"), file(`x/${deep}/long.txt`, "b".repeat(1000)), file("x/empty", "")],
                ],
                ["second", [file("y/run.sh", "#!/bin/sh\\n"), file("y/" + "n".repeat(99) + "é", "c")]],
            ]);
            const bytes = new Uint8Array(await archive.arrayBuffer());
            return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        }"""
    )
    out = tmp_path / "out"
    out.mkdir()
    unpack_folder(base64.b64decode(archive), out, LIMITS)
    deep = "/".join(f"folder-{at}-of-many" for at in range(12))
    found = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert {name: path.read_text() for name, path in found.items()} == {
        "first/größe ✓.txt": "a",
        f"first/{deep}/long.txt": "b" * 1000,
        "first/empty": "",
        "second/run.sh": "#!/bin/sh\n",
        "second/" + "n" * 99 + "é": "c",
    }
    assert [name for name, path in found.items() if path.stat().st_mode & 0o100] == ["second/run.sh"]
    assert {path.stat().st_mtime for path in found.values()} == {1_700_000_000}


async def test_a_folder_that_is_too_large_is_refused_before_anything_is_sent(console: Console) -> None:
    await console.page.goto(console.url)
    refused: list[str] = await console.page.evaluate(
        """async () => {
            const { packed } = await import("/console/static/folder_archive.js");
            const file = (size) => Object.assign(Object.create(null), { size, webkitRelativePath: "x/y" });
            const said = async (files) => packed([[".", files]]).then(() => "taken", (error) => error.message);
            return [await said(Array(5001).fill(file(1))), await said([file(64 * 1024 * 1024 + 1)])];
        }"""
    )
    assert refused == [
        "It has 5001 files; at most 5000 are taken.",
        "Its files hold 65 MiB; at most 64 are taken.",
    ]
