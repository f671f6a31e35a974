"""Tries an ability on a lesson's other folder, as ``apprentice abilities try`` does, and checks what came of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from host.folder_archive import ArchiveLimits, pack_folder, unpack_folder
from tests.fixtures.learner import Learner
from tests.lessons.lesson import Lesson
from tests.lessons.verdicts import Verdict, failed

TRIED_WITHIN_SECONDS = 120

_LIMITS = ArchiveLimits(20_000, 256 * 1024 * 1024)


async def try_on_other_folder(
    lesson: Lesson, learner: Learner, ability_id: str, shown: Mapping[str, str], folder: Path
) -> Verdict:
    """Whether the method gives the right result on the other folder; ``shown`` are the parameters' values by name.

    The folder that it was tried on and the resulting one stay under ``folder``.
    """
    other, out = folder / "other", folder / "tried"
    other.mkdir()
    out.mkdir()
    lesson.other(other)
    values = {
        name: lesson.other_values[value] for name, value in shown.items() if value in lesson.other_values
    }
    run = await _ended(learner, ability_id, pack_folder(other, _LIMITS), values)
    if isinstance(run, Verdict):
        return run
    if run["result_digest"] is not None:
        archive = await learner.call("GET", f"/api/abilities/trials/{run['trial_id']}/result")
        unpack_folder(archive.content, out, _LIMITS)
    return _checked(lesson, out, _story(run, set(lesson.other_values) - set(shown.values())))


async def _ended(
    learner: Learner, ability_id: str, archive: bytes, values: Mapping[str, str]
) -> Mapping[str, Any] | Verdict:
    headers = {"content-type": "application/gzip", "authorization": f"Bearer {learner.secret}"}
    kept = await learner.http.post("/api/abilities/trials/folders", content=archive, headers=headers)
    if kept.status_code != 201:
        return failed(f"the folder was not taken: {kept.text}")
    body = {"folder_ref": kept.json()["folder_ref"], "values": dict(values)}
    started = await learner.call("POST", f"/api/abilities/{ability_id}/trials", body)
    if not started.is_success:
        return failed(f"not started: {started.json()['error']['message']}")
    path = f"/api/abilities/trials/{started.json()['trial_id']}"
    with anyio.fail_after(TRIED_WITHIN_SECONDS):
        while (run := await learner.ok("GET", path))["state"] == "running":
            await anyio.sleep(0.1)
    return run


def _checked(lesson: Lesson, out: Path, story: str) -> Verdict:
    """What the lesson's own check says of the resulting folder."""
    try:
        lesson.check(out)
    except AssertionError as error:
        return failed(
            f"the result is wrong: {str(error).partition(chr(10))[0][:160] or 'it differs'}; {story}"
        )
    except Exception as error:
        return failed(f"the result cannot be read ({type(error).__name__}: {error}); {story}")
    return Verdict(True)


def _story(run: Mapping[str, Any], not_offered: set[str]) -> str:
    """How the trial went, in a line."""
    wrong = [one for one in run["commands"] if one["result"] != "worked"]
    parts = [f"the trial {run['state']}"]
    if not_offered:
        parts.append(f"no parameter for {', '.join(f'`{value}`' for value in sorted(not_offered))}")
    parts += [f"{one['result']}: `{one['command'][:120]}` ({one['details'] or ''})" for one in wrong[:1]]
    return "; ".join(parts)
