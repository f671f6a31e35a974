"""The demonstrated task is real: typed into a shell it makes what it says, and slips where it should."""

import hashlib
import subprocess
import tarfile
from pathlib import Path

import pytest

from cli.demo.lesson import SHOWN, checksum_program, demonstrated_commands, place_sales


@pytest.fixture
def typed(tmp_path: Path) -> dict[str, int]:
    place_sales(tmp_path, SHOWN)
    codes: dict[str, int] = {}
    for command in demonstrated_commands():
        run = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
        codes[command] = run.returncode
    return codes


def test_only_the_mistyped_command_fails(typed: dict[str, int]) -> None:
    failed = {command.split()[0]: code for command, code in typed.items() if code}
    assert failed == {"sotr": 127}


def test_the_summary_is_by_region_and_sorted(typed: dict[str, int], tmp_path: Path) -> None:
    assert (tmp_path / "sales-report" / "summary.csv").read_text() == "north,180\nsouth,95\neast,40\n"


def test_the_archive_holds_the_summary_and_the_checksum_is_its_own(
    typed: dict[str, int], tmp_path: Path
) -> None:
    archive = tmp_path / "sales-report.tar.gz"
    with tarfile.open(archive) as content:
        assert "sales-report/summary.csv" in content.getnames()
    digest = (tmp_path / "sales-report.tar.gz.sha256").read_text().split()[0]
    assert digest == hashlib.sha256(archive.read_bytes()).hexdigest()


def test_a_machine_without_either_checksum_program_is_told_so_by_the_shell() -> None:
    assert checksum_program(("no-such-program",)) == "sha256sum"
