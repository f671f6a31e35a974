"""A skill in the words of other documents."""

import pytest

from contracts.learning.validation import SafetyClass
from contracts.skills.manifest import SafetyLevel
from domain.skills.normalising import safety_class_of

CLASSES = {
    SafetyLevel.LOW: SafetyClass.LOW,
    SafetyLevel.MEDIUM: SafetyClass.MEDIUM,
    SafetyLevel.HIGH: SafetyClass.HIGH,
    SafetyLevel.PRIVILEGED: SafetyClass.HIGH,
}


@pytest.mark.acceptance("X-34")
@pytest.mark.parametrize("level", SafetyLevel)
def test_each_level_has_its_class_and_privileged_is_high(level: SafetyLevel) -> None:
    assert safety_class_of(level) is CLASSES[level]
