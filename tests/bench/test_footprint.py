"""What counts as run through in ``bench.footprint``: functions that are entered, not what is imported."""

import importlib.util
import threading
from pathlib import Path

import pytest

from bench.footprint import FunctionTracer

pytestmark = pytest.mark.anyio

MODULE = """
def at_import():
    return [number for number in range(3)]

class Kind:
    names = at_import()

def command():
    return Kind.names
"""


async def entered(tmp_path: Path, *, calls: bool, thread: bool = False) -> list[str]:
    path = tmp_path / "traced.py"
    path.write_text(MODULE)
    tracer = FunctionTracer({str(path): "traced.py"})

    def imported() -> None:
        spec = importlib.util.spec_from_file_location("traced", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if calls:
            module.command()

    async def command() -> None:
        if not thread:
            imported()
            return
        other = threading.Thread(target=imported)
        other.start()
        other.join()

    with tracer.watching():
        return tracer.files_of(await tracer.during(command))


async def test_a_file_that_is_only_imported_does_not_count(tmp_path: Path) -> None:
    assert await entered(tmp_path, calls=False) == []


@pytest.mark.parametrize("thread", [False, True], ids=["own-thread", "another-thread"])
async def test_a_file_counts_once_a_function_of_it_is_entered(tmp_path: Path, thread: bool) -> None:
    assert await entered(tmp_path, calls=True, thread=thread) == ["traced.py"]
