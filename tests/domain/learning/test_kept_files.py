"""Files that hold secrets are recognised by name and by content, compressed content included."""

import gzip
import os
import subprocess
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from domain.learning.redaction.kept_files import (
    MAX_UNPACKED_BYTES,
    NAMED_LIKE_A_SECRET,
    NOT_LOOKED_THROUGH,
    SEEMS_SECRET,
    path_holds_secret,
    reason_by_content,
    reason_by_name,
)
from domain.learning.redaction.redaction import holds_secret, redact

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        "prod.env",
        "deploy/.env",
        "id_rsa",
        "id_ed25519",
        "backup/id_rsa.old",
        "server.pem",
        "tls.key",
        "vault.kdbx",
        "credentials",
        "credentials.json",
        "aws_credentials.csv",
        ".netrc",
        ".npmrc",
        ".pgpass",
        ".pypirc",
        ".git-credentials",
        "token.txt",
        "github_token",
        "api-key.txt",
        "secrets.yaml",
        "db.password",
        ".ssh/config",
        ".aws/config",
        "tokens.json",
        "access_token.json",
        ".bash_history",
        "cookies.sqlite",
        "my-service-account-1.json",
        "wallet.dat",
    ],
)
def test_a_name_that_says_secret_is_enough(path: str) -> None:
    assert reason_by_name(path) == NAMED_LIKE_A_SECRET


@pytest.mark.parametrize(
    "path",
    [
        "notes.txt",
        "budget.csv",
        "keys.py",
        "keyboard.md",
        "tokenizer.py",
        "id_rsa.pub",
        "environment.yml",
        "secretary.txt",
        ".git/config",
        "src/auth.py",
        ".gitignore",
        "monkey.jpg",
        "passwordless.md.txt",
        "data/env.csv",
        "turkey",
    ],
)
def test_other_names_are_fine(path: str) -> None:
    assert reason_by_name(path) is None


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/sh\ncurl -H 'Authorization: Bearer {KEY}' https://api.example\n",
        '{"user": "ann", "password":\n   "hunter2again"}',
        "a,b\n" * 2_000 + f"x,{KEY}\n" + "a,b\n" * 2_000,
        "x" * 5_000 + f" {KEY} " + "y" * 5_000,
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n",
        "Zk3Qx9Lm2Vb7Tn4Rw8Yp1Gh6",
        "paid with 4111 1111 1111 1111",
    ],
)
def test_text_in_which_something_would_be_masked_is_left_out(text: str) -> None:
    assert holds_secret(text)
    for content in (text.encode(), text.encode("utf-16"), gzip.compress(text.encode())):
        assert reason_by_content(content) == SEEMS_SECRET


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name,amount\n" + "".join(f"customer {n},{n * 17}\n" for n in range(500)),
        "2026-01-02T03:04:05Z ERROR app.module: request /api/v1/users/17 failed with status 500\n" * 50,
        "# Notes\n\nThe token of our appreciation, and the key to the door.\n",
        "import csv\n\nfor row in csv.reader(open('sales.csv')):\n    print(row[0])\n",
        "commit 780798228d17af2d34fce4cfbdf35556832472aa\n",
    ],
)
def test_ordinary_text_is_kept(text: str) -> None:
    assert redact(text).masked_count == 0
    assert reason_by_content(text.encode()) is None
    assert reason_by_content(gzip.compress(text.encode())) is None


def test_the_name_of_a_pack_of_git_is_no_secret() -> None:
    assert reason_by_content(b"P pack-fe5dbbcea5ce7e2988b8c69bcfdfde8904aabc1f.pack\n\n") is None


def test_long_text_is_judged_in_reasonable_time_and_like_short_text() -> None:
    lines = [f"{n},customer {n},reports/quarter_{n % 4}/file_{n}.csv\n" for n in range(10_000)]
    assert not holds_secret("".join(lines))
    lines[7_000] = f"7000,{KEY},x\n"
    assert holds_secret("".join(lines))


def test_binary_content_is_left_out_for_known_secrets_only() -> None:
    noise = bytes(range(256)) * 64
    assert reason_by_content(noise + os.urandom(50_000)) is None
    assert reason_by_content(noise + b"\0Zk3Qx9Lm2Vb7Tn4Rw8Yp1Gh6\0" + noise) is None
    assert reason_by_content(noise + b"\0\0api_token=" + KEY.encode() + b"\0" + noise) == SEEMS_SECRET


def zipped(members: dict[str, bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_archives_are_looked_into() -> None:
    assert reason_by_content(zipped({"a.txt": b"hello"})) is None
    assert reason_by_content(zipped({"a.txt": f"token: {KEY}".encode()})) == SEEMS_SECRET
    assert reason_by_content(zipped({"deploy/.env": b"A=1"})) == SEEMS_SECRET
    assert reason_by_content(b"PK\x03\x04 damaged") == NOT_LOOKED_THROUGH
    assert reason_by_content(gzip.compress(b"\0" * (MAX_UNPACKED_BYTES + 1))) == NOT_LOOKED_THROUGH
    assert reason_by_content(zipped({"a": b"\0" * (MAX_UNPACKED_BYTES + 1)})) == NOT_LOOKED_THROUGH
    assert reason_by_content(b"BZh91AY&SY") == NOT_LOOKED_THROUGH
    assert reason_by_content(b"x^2 + y^2 = z^2, as text") is None
    assert reason_by_content(zlib.compress(f"key={KEY}".encode())) == SEEMS_SECRET


def test_the_objects_of_a_repository_are_looked_into(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def found() -> set[str]:
        files = (
            path for path in (tmp_path / ".git").rglob("*") if path.is_file() and "hooks" not in path.parts
        )
        return {path.suffix for path in files if reason_by_content(path.read_bytes()) is not None}

    git("init")
    (tmp_path / "notes.txt").write_text("".join(f"line {n}\n" for n in range(200)))
    git("add", ".")
    git("commit", "-m", "begin")
    assert found() == set()
    (tmp_path / "notes.txt").write_text("".join(f"line {n}\n" for n in range(200)) + f"token={KEY}\n")
    git("commit", "-am", "more")
    assert found() == {""}
    git("repack", "-ad")
    git("prune-packed")
    assert found() == {".pack"}


def test_a_path_can_hold_a_secret_and_a_digest_in_a_name_is_none() -> None:
    assert path_holds_secret("token=hunter2again")
    assert path_holds_secret(f"notes/{KEY}.txt")
    assert not path_holds_secret(".git/objects/61/780798228d17af2d34fce4cfbdf35556832472")
    assert not path_holds_secret("reports/2026/quarter one.csv")
