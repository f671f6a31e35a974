from pathlib import Path

import pytest

from host import pair_model as module
from host.pair_model import MAX_TOKENS, PairModel, pair_model, read_together
from host.sentence_model import ModelUnavailable, loaded_once


@pytest.mark.parametrize(
    ("goal", "asked", "other"),
    [
        (
            "Total the amounts of the invoices by customer",
            "how much does each client owe us",
            "send the invoices",
        ),
        (
            "Convert the recordings from WAV to MP3",
            "make small mp3s out of the wave files",
            "delete the recordings",
        ),
        (
            "Back up the photos to the other disk",
            "save copies of the pictures elsewhere",
            "restore the photos",
        ),
    ],
)
def test_a_request_for_the_same_work_is_likelier_than_one_for_other_work(
    goal: str, asked: str, other: str
) -> None:
    read = pair_model().log_odds
    assert read(asked, goal) > read(other, goal)


def test_an_answer_does_not_depend_on_what_was_read_before() -> None:
    before = pair_model().log_odds("rename the scans", "Number the scanned pages")
    again = PairModel()
    again.log_odds("a longer text about something else altogether", "which is read first")
    assert again.log_odds("rename the scans", "Number the scanned pages") == before


def test_what_is_said_beyond_the_limit_is_not_read() -> None:
    read = pair_model().log_odds
    long = "scan " * MAX_TOKENS
    assert read(long, "Number the pages") == read(f"{long} delete everything", "Number the pages")


def test_weights_that_are_missing_or_others_than_expected_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.onnx"
    monkeypatch.setattr(module, "GRAPH", other)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        PairModel()
    other.write_bytes(b"another graph")
    with pytest.raises(ModelUnavailable, match="another file than expected"):
        PairModel()
    monkeypatch.setattr(module, "pair_model", loaded_once(PairModel))
    assert read_together() is None
