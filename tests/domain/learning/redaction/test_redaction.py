from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    RedactionMode,
    TerminalObservation,
)
from domain.learning.redaction.redaction import MASK, redact, redact_event
from tests.fixtures.thoroughness import times

SECRET = "hunter2"
RANDOM_TOKEN = "mF3kQ9xZ7vL2pR8tW4yB6nJ1"
CARD = "4111 1111 1111 1111"

FRAGMENTS = [
    "password", "=", ":", " ", '"', "'", "--token", "-p", "mysql", "curl -u", "://", "@", "https", "Bearer ",
    "Authorization: ", "sk-", "ghp_", "AKIA", "$TOKEN", "|", ";", "\\", "\n", MASK, "[", "]", RANDOM_TOKEN, CARD,
    "a", "7", "/", ".", "-----BEGIN PRIVATE KEY-----", "echo x | sudo -S", "set secret", "…", "0123456789abcdef" * 2,
]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))


def an_event(**changes: object) -> ObservedActionEvent:
    values: dict[str, object] = {
        "event_id": "0190163d-8694-739b-aea5-966c26f8ad91",
        "learn_session_id": "0190163d-8694-739b-aea5-966c26f8ad92",
        "adapter_kind": ObservationAdapterKind.TERMINAL_COMMAND,
        "action_label": "make report",
        "created_at": datetime(2026, 1, 2, tzinfo=UTC),
    }
    return ObservedActionEvent.model_validate(values | changes)


def a_command(command: str, **changes: object) -> TerminalObservation:
    values: dict[str, object] = {"command": command, "exit_class": ExitClass.OK, "working_folder": "."}
    return TerminalObservation.model_validate(values | changes)


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (f'curl -H "Authorization: Bearer {SECRET}" https://a.example', f'curl -H "Authorization: Bearer {MASK}" https://a.example'),
        (f"curl -H 'Cookie: sid={SECRET}; x=y' https://a.example", f"curl -H 'Cookie: {MASK}' https://a.example"),
        (f"export GITHUB_TOKEN={SECRET}", f"export GITHUB_TOKEN={MASK}"),
        (f"DB_PASSWORD='{SECRET} and more' ./run.sh", f"DB_PASSWORD='{MASK}' ./run.sh"),
        (f"tool --password={SECRET} --verbose", f"tool --password={MASK} --verbose"),
        (f'tool --api-key "{SECRET}" run', f'tool --api-key "{MASK}" run'),
        (f"mysql -u root -p{SECRET} shop", f"mysql -u root -p{MASK} shop"),
        (f'mysql -e "select 1; select 2" -p{SECRET}', f'mysql -e "select 1; select 2" -p{MASK}'),
        (f"sshpass -p {SECRET} ssh host", f"sshpass -p {MASK} ssh host"),
        (f"docker login -u me -p {SECRET} registry.example", f"docker login -u me -p {MASK} registry.example"),
        (f"curl -u me:{SECRET} https://a.example", f"curl -u me:{MASK} https://a.example"),
        (f'curl -u "me:{SECRET} x" -H "Accept: y" https://a.example', f'curl -u "me:{MASK}" -H "Accept: y" https://a.example'),
        (f"docker login -p {SECRET} -p '{SECRET}' && az login -p {SECRET}",
         f"docker login -p {MASK} -p '{MASK}' && az login -p {MASK}"),
        (f'curl -H "X-Api-Key: {SECRET}" -H "Y: z" https://a.example', f'curl -H "X-Api-Key: {MASK}" -H "Y: z" https://a.example'),
        (f"redis-cli -a {SECRET} ping", f"redis-cli -a {MASK} ping"),
        (f"echo {SECRET} | sudo -S make install", f"echo {MASK} | sudo -S make install"),
        (f"psql postgres://me:{SECRET}@db/shop", f"psql postgres://me:{MASK}@db/shop"),
        (f"curl 'https://a.example/x?token={SECRET}&page=2'", f"curl 'https://a.example/x?token={MASK}&page=2'"),
        (f'echo \'{{"password": "{SECRET}"}}\' > a.json', f'echo \'{{"password": "{MASK}"}}\' > a.json'),
        (f"kubectl create secret generic x --from-literal=password={SECRET}",
         f"kubectl create secret generic x --from-literal=password={MASK}"),
        (f"aws configure set aws_secret_access_key {SECRET}", f"aws configure set aws_secret_access_key {MASK}"),
        (f"openssl rsa -passin pass:{SECRET} -in key.pem", f"openssl rsa -passin pass:{MASK} -in key.pem"),
        (f"sudo -S make <<< {SECRET}", f"sudo -S make <<< {MASK}"),
        (f"gh auth login --with-token <<< '{SECRET}'", f"gh auth login --with-token <<< '{MASK}'"),
        (f"echo 'machine a login me password {SECRET}' >> .netrc",
         f"echo 'machine a login me password {MASK}' >> .netrc"),
        (f"vault kv put secret/app a={SECRET} b={SECRET}", f"vault kv put secret/app a={MASK} b={MASK}"),
        (f"vault login {SECRET}", f"vault login {MASK}"),
        (f"sqlplus scott/{SECRET}@db", f"sqlplus scott/{MASK}@db"),
        (f"openssl enc -aes-256-cbc -k {SECRET} -in a", f"openssl enc -aes-256-cbc -k {MASK} -in a"),
        (f"useradd -p {SECRET} bob", f"useradd -p {MASK} bob"),
        (f"lftp -u me,{SECRET} ftp.example", f"lftp -u me,{MASK} ftp.example"),
        (f"rclone config create r s3 secret_access_key {SECRET}",
         f"rclone config create r s3 secret_access_key {MASK}"),
        (f"ansible-vault encrypt_string '{SECRET}' --name x", f"ansible-vault encrypt_string '{MASK}' --name x"),
        (f"run {RANDOM_TOKEN}", f"run {MASK}"),
        (f"pay {CARD} now", f"pay {MASK} now"),
        ("run " + "c0ffee11" * 4, f"run {MASK}"),
    ],
)  # fmt: skip
def test_a_secret_is_masked_and_the_rest_of_the_command_stays(command: str, kept: str) -> None:
    assert redact(command).text == kept


# Every key is put together here, so that no file of the project holds one in one piece.
@pytest.mark.parametrize(
    "key",
    [
        "AKIA" + "ABCDEFGH12345678",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2_" * 8,
        "xoxb-" + "123456789012-abcdef",
        "sk-proj-" + "a1B2c3D4" * 4,
        "AIza" + "a1B2c3D4e5F" * 3,
        "sk_live_" + "a1B2c3D4e5F6",
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + "c2lnbmF0dXJl",
        "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_key_of_a_known_service_is_masked_wherever_it_stands(key: str) -> None:
    redacted = redact(f"deploy '{key}' --dry-run")
    assert redacted.text == f"deploy '{MASK}' --dry-run"
    assert redacted.masked_count == 1


@pytest.mark.parametrize(
    "harmless",
    [
        "git checkout 8f14e45fceea167a5a36dedd4bea2543aaaabbbb",
        "docker pull app@sha256:" + "e3b0c44298fc1c14" * 4,
        "rm 0190163d-8694-739b-aea5-966c26f8ad91.json",
        "cp report-2024-01-02T03-04-05.csv src/components/HelloWorldButton/HelloWorldButton.test.tsx",
        "cat /var/lib/app/Zk3Qx9Lm2Vb7Tn4Rw8Yp1/data.bin",
        "pip install torch==2.3.1+cu121 -f https://download.pytorch.org/whl/torch_stable.html",
        "docker login -u me --password-stdin registry.example.com",
        "tool --token-file ./tok --max-tokens 100 --tokenizer fast",
        'curl -H "Authorization: Bearer $TOKEN" https://a.example',
        "TOKEN=$(cat tok); X_TOKEN=$Y run",
        "docker run -p 8080:80 nginx && docker compose -p project up",
        "git clone ssh://git@github.com/x/y.git",
        "convert x86_64-unknown-linux-gnu --at 1700000000000 --compass=3 --bypass=1 --author=me",
        "grep -rn 'password' src",
        "Reset password - Mail",
        "echo someone@example.com",
    ],
)
def test_what_is_no_secret_stays_readable(harmless: str) -> None:
    assert redact(harmless).text == harmless
    assert redact(harmless).masked_count == 0


def test_addresses_of_people_are_masked_only_on_request() -> None:
    assert redact("mail someone@example.com", personal=True).text == f"mail {MASK}"


@given(TEXTS)
@settings(max_examples=times(400), deadline=None)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.masked_count == 0


@given(TEXTS, st.sampled_from(ObservationAdapterKind), st.sampled_from(RedactionMode))
@settings(max_examples=times(300), deadline=None)
def test_an_event_redacted_twice_is_redacted_once_and_keeps_the_contract(
    text: str, kind: ObservationAdapterKind, mode: RedactionMode
) -> None:
    files = (ProducedFile(path=text[:240], change="created", size_bytes=1),)
    event = an_event(
        adapter_kind=kind,
        redaction_mode=mode,
        action_label=text[:240],
        window_title=text[:200],
        target_ref=text[:240],
        terminal=a_command(text[:2000], working_folder=text[:400], produced_files=files),
    )
    once = redact_event(event)
    assert redact_event(once) == once
    assert ObservedActionEvent.model_validate(once.model_dump()) == once


@given(st.text(alphabet="abcXYZ0189!%^", min_size=8, max_size=40))
@settings(deadline=None)
def test_no_part_of_a_password_option_survives(secret: str) -> None:
    assert secret not in redact(f"tool --password '{secret}' && PGPASSWORD=\"{secret}\" psql").text


def test_every_text_of_an_event_is_redacted() -> None:
    leak = f"token={SECRET}"
    event = an_event(
        action_label=leak,
        app_family=leak,
        window_title=leak,
        target_ref=leak,
        before_state_ref=leak,
        after_state_ref=leak,
        bundle_id=leak,
        terminal=a_command(
            leak,
            working_folder=leak,
            produced_files=(ProducedFile(path=leak, change="created", size_bytes=3, inside=leak),),
        ),
    )
    assert SECRET not in redact_event(event).model_dump_json()


def test_an_event_without_secrets_is_returned_as_it_is() -> None:
    event = an_event(terminal=a_command("make report"))
    assert redact_event(event) is event


def test_the_mode_none_still_masks_secrets() -> None:
    event = an_event(redaction_mode="none", action_label=f"export TOKEN={SECRET}")
    assert redact_event(event).action_label == f"export TOKEN={MASK}"


def test_hash_only_keeps_a_digest_that_no_secret_can_be_guessed_from() -> None:
    labels = {
        redact_event(an_event(redaction_mode="hash_only", action_label=f"export TOKEN={s}")).action_label
        for s in ("first", "second")
    }
    assert len(labels) == 1
    assert labels.pop().startswith("sha256:")


@pytest.mark.parametrize(
    ("kind", "label", "kept"),
    [
        ("text_entry", "type: dear diary", f"type: {MASK}"),
        ("text_entry", "dear diary", f"text_entry: {MASK}"),
        ("clipboard", "Copy: dear diary", f"copy: {MASK}"),
        ("clipboard", "paste", "paste"),
    ],
)
@pytest.mark.parametrize("mode", ["none", "mask_text"])
def test_of_typed_and_copied_text_only_the_class_is_kept(kind: str, label: str, kept: str, mode: str) -> None:
    event = an_event(adapter_kind=kind, action_label=label, redaction_mode=mode)
    assert redact_event(event).action_label == kept


def test_a_masked_text_is_clipped_to_the_contract() -> None:
    label = f"TOKEN={SECRET} " * 16
    redacted = redact_event(an_event(action_label=label))
    assert len(redacted.action_label) <= 240
    assert SECRET not in redacted.action_label
