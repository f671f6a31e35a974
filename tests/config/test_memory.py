"""While modules are loaded no garbage is collected; afterwards it is again, but not what was loaded."""

import gc

import pytest

from config.memory import loading


def test_what_is_loaded_is_looked_through_neither_meanwhile_nor_afterwards() -> None:
    frozen = gc.get_freeze_count()
    with loading():
        assert not gc.isenabled()
        loaded: list[object] = []
        loaded.append(loaded)
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    assert all(one is not loaded for one in gc.get_objects())


def test_garbage_is_collected_again_where_loading_failed() -> None:
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()
