"""Keys of the installation are known in every spelling that a tool may say them in."""

import base64
from pathlib import Path

from gateways.platform.payload_signing import payload_keys
from stores.platform.secrets.keys import open_secret_keys
from worker.own_secrets import KEPT_SECONDS, OwnSecrets


def test_every_key_of_both_rings_is_known_in_each_of_its_spellings(tmp_path: Path) -> None:
    rings = (payload_keys(tmp_path).ring(), open_secret_keys("file", "apprentice", tmp_path).ring())
    known = OwnSecrets(tmp_path)()
    for ring in rings:
        (key,) = ring.keys.values()
        for spelled in (base64.b64encode(key).decode().rstrip("="), key.hex(), key.hex().upper()):
            assert spelled in known


def test_a_key_that_is_made_later_is_known_after_a_while_and_a_damaged_file_gives_none(
    tmp_path: Path,
) -> None:
    now = [0.0]
    own = OwnSecrets(tmp_path, lambda: now[0])
    assert own() == ()
    payload_keys(tmp_path).ring()
    assert own() == ()
    now[0] = KEPT_SECONDS + 1
    assert len(own()) >= 3
    (tmp_path / "payload-keys" / "keys.json").write_text("{")
    now[0] = 2 * KEPT_SECONDS + 2
    assert own() == ()
