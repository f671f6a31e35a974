from pathlib import Path

from host.bounded_use import GrowthWatch, exceeds


def test_a_folder_is_measured_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x" * 100_000)

    assert exceeds(tmp_path, 50_000, 100)
    assert not exceeds(tmp_path, 1_000_000, 100)


def test_entries_are_counted_whatever_their_size(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).touch()

    assert exceeds(tmp_path, 1_000_000, 4)
    assert not exceeds(tmp_path, 1_000_000, 5)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (tmp_path / "jail").mkdir()
    (tmp_path / "jail" / "link").symlink_to(tmp_path)

    assert not exceeds(tmp_path / "jail", 50_000, 10)


def test_a_folder_that_has_vanished_holds_nothing(tmp_path: Path) -> None:
    assert not exceeds(tmp_path / "gone", 0, 0)


def test_growth_is_noticed_once_it_is_time_to_look(tmp_path: Path) -> None:
    watch = GrowthWatch(tmp_path, 50_000, 100)
    assert not watch.exceeded(0.0)
    (tmp_path / "file").write_bytes(b"x" * 100_000)

    assert watch.measured()
    assert watch.exceeded(1e12)
