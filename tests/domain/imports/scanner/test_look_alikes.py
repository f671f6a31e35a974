import pytest

from tests.domain.imports.scanner.look_alikes import HELD_OUT, KNOWN, Case, cases, outcome

_LEAST_RECALL = 0.9
_MOST_FALSE_ALARMS = 0.05


@pytest.mark.parametrize(
    "case",
    list(cases(KNOWN)),
    ids=lambda case: f"{case.family}-{'hostile' if case.hostile else 'good'}-{case.name}",
)
def test_a_look_alike_comes_out_as_written(case: Case) -> None:
    found = case.found()
    assert case.holds(), f"came out {outcome(found).name}, wanted {case.wanted.name}: {found}"


def test_each_family_has_ten_hostile_and_ten_good_files() -> None:
    counted: dict[tuple[str, bool], int] = {}
    for case in (*cases(KNOWN), *cases(HELD_OUT)):
        counted[case.family, case.hostile] = counted.get((case.family, case.hostile), 0) + 1
    assert min(counted.values()) >= 10
    assert len(counted) == 28


def test_held_out_files_come_out_nearly_as_well() -> None:
    held_out = list(cases(HELD_OUT))
    hostile = [case.holds() for case in held_out if case.hostile]
    good = [case.holds() for case in held_out if not case.hostile]
    assert sum(hostile) / len(hostile) >= _LEAST_RECALL
    assert good.count(False) / len(good) <= _MOST_FALSE_ALARMS
