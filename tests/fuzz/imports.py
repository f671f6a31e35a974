"""Fuzzes the archive reader and the front matter parser of imports with atheris, in bounded time.

``python -m tests.fuzz.imports archive|front_matter [-max_total_time=SECONDS] [-seed=N] [CORPUS]``: the options are
those of libFuzzer, which prints the seed at its start, and the input with which a target broke at its end. Atheris has
no package for every Python that is supported, so that CI installs it by itself (.ci/run) where there is one.
"""

import os
import sys
import tempfile
import types
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

SECONDS = 20


def main() -> None:
    """Runs one target until the time is over, or until it breaks."""
    atheris: Any = import_module("atheris")
    name, *options = sys.argv[1:]
    # Only what is imported under its eyes is followed by its branches.
    with atheris.instrument_imports(include=["domain", "skills.imports"]):
        from tests.domain.imports import hostile_front_matter
        from tests.skills.imports import hostile_archives

        targets: Mapping[str, Callable[[bytes], None]] = {
            "archive": _archive(import_module("skills.imports.archive_reader")),
            "front_matter": _front_matter(import_module("domain.imports.skill_reading")),
        }
    seeds: Mapping[str, Mapping[str, tuple[Any, Any]]] = {
        "archive": hostile_archives.ARCHIVES,
        "front_matter": {**hostile_front_matter.REFUSED, **hostile_front_matter.DEVIATING},
    }
    with tempfile.TemporaryDirectory() as folder:
        for number, (_, made) in enumerate(seeds[name].values()):
            content: bytes = made() if callable(made) else made
            if len(content) < 64 * 1024:
                (Path(folder) / f"{number:03}").write_bytes(content)
        bounded = [f"-max_total_time={SECONDS}", "-timeout=10", "-rss_limit_mb=1024"]
        bounded += [f"-artifact_prefix={tempfile.gettempdir()}{os.sep}", *options]
        atheris.Setup([sys.argv[0], *bounded, folder], targets[name])
        atheris.Fuzz()


def _archive(reader: types.ModuleType) -> Callable[[bytes], None]:
    """Any bytes are unpacked inside or refused, and nothing is left of what was refused."""
    from domain.imports.archive_problems import ArchiveRefused

    def run(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "a.zip").write_bytes(data)
            try:
                unpacked = reader.unpack(place / "a.zip", place / "into")
            except ArchiveRefused:
                assert list((place / "into").iterdir()) == []
            else:
                there = {path.relative_to(place / "into").as_posix() for path in _files(place / "into")}
                assert there == {file.path for file in unpacked.files}
            assert {path.name for path in place.iterdir()} == {"a.zip", "into"}

    return run


def _files(folder: Path) -> list[Path]:
    found = list(folder.rglob("*"))
    assert not any(path.is_symlink() for path in found)
    return [path for path in found if path.is_file()]


def _front_matter(reader: types.ModuleType) -> Callable[[bytes], None]:
    """Any text is refused, or conforms once it is repaired, and says the same then."""
    from domain.imports.skill_problems import SkillRefused

    def run(data: bytes) -> None:
        try:
            skill = reader.read_skill(data, "pack-week")
        except SkillRefused:
            return
        again = reader.read_skill(skill.text.encode(), skill.name)
        assert again.conforms
        assert again.front == skill.front

    return run


if __name__ == "__main__":
    main()
