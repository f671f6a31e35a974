import pytest

from host.sandbox.launch_order import PRIVILEGED, SHARED, USER, Layers, host_isolation


@pytest.mark.parametrize("isolation", [PRIVILEGED, USER])
def test_namespaces_with_every_layer_leave_nothing_missing(isolation: str) -> None:
    held = host_isolation(Layers(isolation=isolation, landlock=7, seccomp=True))

    assert (held.filesystem, held.network, held.process_tree) == (True, True, True)
    assert held.missing == ()


def test_missing_layers_are_named_even_when_namespaces_hold() -> None:
    held = host_isolation(Layers(isolation=USER, landlock=0, seccomp=False))

    assert (held.filesystem, held.network, held.process_tree) == (True, True, True)
    assert [text.partition(":")[0] for text in held.missing] == ["Landlock", "seccomp"]


def test_without_namespaces_the_process_tree_is_not_kept_apart() -> None:
    held = host_isolation(Layers(isolation=SHARED, landlock=3, seccomp=True))

    assert (held.filesystem, held.network, held.process_tree) == (True, True, False)
    assert held.missing[0].startswith("namespaces:")


@pytest.mark.parametrize("landlock", [0, 1, 2])
def test_an_old_landlock_alone_does_not_keep_files_apart(landlock: int) -> None:
    assert not host_isolation(Layers(isolation=SHARED, landlock=landlock, seccomp=True)).filesystem


def test_without_a_filter_the_shared_network_is_open() -> None:
    assert not host_isolation(Layers(isolation=SHARED, landlock=7, seccomp=False)).network
