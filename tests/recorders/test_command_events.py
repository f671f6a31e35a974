"""No secret of an argument list reaches a receipt, in whatever words it stands."""

import json
import os
import string
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contracts.abilities.control_surface import ControlSurface
from contracts.learning.observation import ObservationAdapterKind
from domain.learning.redaction.redaction import MASK, redact_event
from recorders.command_events import CommandScene, FinishedCommand, command_event, line_of
from recorders.spool import Spool

SESSION = "01936f5e-0000-7000-8000-000000000001"
PLAIN = st.sampled_from(
    ["-v", "--verbose", "run", "sales.csv", "a b", "it's", 'say "x"', "$HOME", "--", "x=1", ""]
)
# Nothing that stands in the other words: what is looked for below could not be told from them.
SECRET = st.text(
    string.ascii_letters + string.digits + "'\"$ ;|&\\\n\t(){}[]<>*?#~éß-", min_size=8, max_size=40
)
NAMES = st.sampled_from(["password", "api-key", "token", "client_secret", "db.password", "PASSPHRASE"])


def told(arguments: list[str]) -> str:
    """All the words of a receipt of the command."""
    command = FinishedCommand(line_of(arguments), 0, "/demo", ())
    scene = CommandScene(SESSION, Path("/demo"))
    event = command_event(
        command, scene, ObservationAdapterKind.WRAPPER_RECEIPT, ControlSurface.WRAPPER_SCRIPT
    )
    kept = redact_event(event)
    assert kept.terminal is not None
    return f"{kept.action_label}\n{kept.terminal.command}"


def hides(said: str, secret: str) -> bool:
    pieces = [secret, *(p for p in secret.replace("'", " ").replace('"', " ").split() if len(p) > 4)]
    return not any(piece in said for piece in pieces)


@given(before=st.lists(PLAIN, max_size=4), after=st.lists(PLAIN, max_size=4), name=NAMES, secret=SECRET)
def test_the_value_of_a_telling_option_is_masked_whole(
    before: list[str], after: list[str], name: str, secret: str
) -> None:
    assume(not secret.startswith("-"))
    for words in (
        [f"--{name}", secret],
        [f"--{name}={secret}"],
        [f"{name}={secret}"],
        [f"-{name}", secret],
    ):
        said = told(["tool", *before, *words, *after])
        assert hides(said, secret), said
        assert MASK in said


TOKEN = st.text(string.ascii_letters + string.digits, min_size=24, max_size=40)


@given(token=TOKEN, blanks=st.sampled_from([" ", "  ", "\t"]))
def test_the_shape_of_a_word_gives_a_secret_away_as_well(token: str, blanks: str) -> None:
    for words in (
        ["curl", "-H", f"Authorization: Bearer{blanks}{token}9", "https://example.com"],
        ["curl", "-H", f"Cookie: a=b;{blanks}session={token}"],
        ["psql", f"postgresql://me:{token}@db.example/x"],
        ["sh", "-c", f"export API_TOKEN='{token}'; curl -u me:{token} https://x.example"],
        ["sh", "-c", f"login --password \"{token}\" 'x y'"],
        ["aws", f"ghp_{token}"],
    ):
        said = told(words)
        assert token not in said, said


def test_an_argument_that_is_no_text_is_told_as_far_as_it_is() -> None:
    assert line_of([os.fsdecode(b"caf\xff")]) == "'caf\N{REPLACEMENT CHARACTER}'"


def test_what_is_no_secret_stays_readable() -> None:
    said = line_of(["tool", "--auth", "--verbose", "--password-file", "/run/pw", "--name", "a b", "x=1"])
    assert said == "tool --auth --verbose --password-file /run/pw --name 'a b' x=1"


def test_an_argument_list_without_end_is_cut_between_words() -> None:
    said = line_of(["tool", *["word"] * 5_000, "--password", "hunter2"])
    assert len(said) < 11_000
    assert said.endswith(" word")


@settings(max_examples=25)
@given(secrets=st.lists(SECRET.filter(lambda s: not s.startswith("-")), min_size=1, max_size=3), label=TOKEN)
def test_no_secret_of_the_arguments_reaches_the_spool(secrets: list[str], label: str) -> None:
    arguments = [
        "tool",
        *(word for secret in secrets for word in ("--password", secret, f"API_TOKEN={secret}")),
    ]
    command = FinishedCommand(line_of(arguments), 0, "/demo", ())
    scene = CommandScene(SESSION, Path("/demo"))
    kind, surface = ObservationAdapterKind.WRAPPER_RECEIPT, ControlSurface.WRAPPER_SCRIPT
    event = command_event(command, scene, kind, surface, f"Sign in with --token {label}")
    with TemporaryDirectory() as folder:
        spool = Spool(Path(folder), SESSION)
        spool.append([event])
        (file,) = Path(folder).glob("*.jsonl")
        (kept,) = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        spool.close()
    assert kept["action_label"] == f"Sign in with --token {MASK}"
    assert kept["terminal"]["command"] == " ".join(
        ["tool", *(f"--password {MASK} API_TOKEN={MASK}" for _ in secrets)]
    )
