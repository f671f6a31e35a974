"""Access tokens and the installation's first one."""

import json
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.platform.identity import Principal, Scope
from stores.platform.database import Database
from stores.platform.tables import access_tokens, journal, metadata
from stores.platform.tokens import ADMIN_USER, AUDIT_STREAM, FILE_NAME, Tokens, ensure_admin_token

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    metadata.create_all(database.engine)
    yield database
    database.close()


def audit(database: Database) -> list[dict[str, object]]:
    with database.read() as connection:
        documents = connection.execute(
            select(journal.c.document).where(journal.c.stream == AUDIT_STREAM).order_by(journal.c.seq)
        ).scalars()
        return [json.loads(document) for document in documents]


def test_a_secret_authenticates_its_user_with_its_scopes(database: Database) -> None:
    tokens = Tokens(database)
    token, secret = tokens.create("laptop", "ann", [Scope.LEARN, Scope.READ], NOW)
    assert tokens.authenticate(secret) == Principal(
        user_id="ann", token_id=token.token_id, scopes=frozenset({Scope.READ, Scope.LEARN})
    )


def test_a_secret_is_recognisable_and_never_the_same_twice(database: Database) -> None:
    tokens = Tokens(database)
    secrets = {tokens.create("t", "ann", [Scope.READ], NOW)[1] for _ in range(5)}
    assert len(secrets) == 5
    assert all(secret.startswith("apr_") and len(secret) == 47 for secret in secrets)


def test_the_database_never_holds_the_secret(database: Database, tmp_path: Path) -> None:
    _, secret = Tokens(database).create("t", "ann", [Scope.READ], NOW)
    database.close()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"ann" in held
    assert secret.encode() not in held


@pytest.mark.parametrize(
    "secret", ["", "apr_", "apr_" + "x" * 43, "x" * 47, "apr_" + "x" * 44, "apr_" + "é" * 43]
)
def test_an_unknown_or_malformed_secret_authenticates_nobody(database: Database, secret: str) -> None:
    assert Tokens(database).authenticate(secret) is None


def test_a_revoked_token_is_refused_at_once_in_this_process(database: Database) -> None:
    tokens = Tokens(database)
    token, secret = tokens.create("t", "ann", [Scope.READ], NOW)
    assert tokens.authenticate(secret) is not None
    tokens.revoke(token.token_id, "ann")
    assert tokens.authenticate(secret) is None


def test_a_revoked_token_is_refused_within_two_seconds_in_another_process(database: Database) -> None:
    clock = Clock()
    here, elsewhere = Tokens(database), Tokens(database, clock=clock)
    token, secret = here.create("t", "ann", [Scope.READ], NOW)
    assert elsewhere.authenticate(secret) is not None
    here.revoke(token.token_id, "ann")
    clock.seconds = 2.0
    assert elsewhere.authenticate(secret) is None


def test_a_revocation_during_an_authentication_is_not_forgotten(tmp_path: Path) -> None:
    class Interrupted(Database):
        """Lets something happen between the reading of a row and its use."""

        meanwhile: Callable[[], None] | None = None

        @contextmanager
        def read(self) -> Iterator[Connection]:
            with super().read() as connection:
                yield connection
            if self.meanwhile is not None:
                self.meanwhile()

    database = Interrupted(f"sqlite:///{tmp_path / 'interrupted.db'}")
    metadata.create_all(database.engine)
    tokens = Tokens(database)
    token, secret = tokens.create("t", "ann", [Scope.READ], NOW)
    database.meanwhile = lambda: tokens.revoke(token.token_id, "ann")
    tokens.authenticate(secret)
    database.meanwhile = None
    assert tokens.authenticate(secret) is None
    database.close()


def test_the_list_is_newest_first_and_of_one_token_with_what_it_made_or_of_all(database: Database) -> None:
    tokens = Tokens(database)
    first, _ = tokens.create("one", "ann", [Scope.READ], NOW)
    second, _ = tokens.create("two", "ann", [Scope.READ], NOW)
    third, _ = tokens.create("three", "ann", [Scope.READ], NOW, made_by=first.token_id)
    fourth, _ = tokens.create("four", "ann", [Scope.READ], NOW, made_by=third.token_id)
    tokens.revoke(fourth.token_id, "ann", now=NOW + timedelta(hours=1))
    revoked = fourth.changed(revoked_at=NOW + timedelta(hours=1))
    assert tokens.list_for(first.token_id) == (revoked, third, first)
    assert tokens.list_for(second.token_id) == (second,)
    assert tokens.list_for(None) == (revoked, third, second, first)


def test_a_revoked_token_takes_along_what_it_made_and_nothing_else(database: Database) -> None:
    tokens = Tokens(database)
    parent, parent_secret = tokens.create("parent", "ann", [Scope.READ], NOW)
    child, child_secret = tokens.create("child", "ann", [Scope.READ], NOW, made_by=parent.token_id)
    _, grandchild_secret = tokens.create("grandchild", "bob", [Scope.READ], NOW, made_by=child.token_id)
    _, other_secret = tokens.create("other", "ann", [Scope.READ], NOW)
    every = (parent_secret, child_secret, grandchild_secret, other_secret)
    assert all(tokens.authenticate(secret) for secret in every)
    tokens.revoke(parent.token_id, "ann", within=parent.token_id)
    assert [tokens.authenticate(secret) is not None for secret in every] == [False, False, False, True]
    with pytest.raises(Refusal) as caught:
        tokens.create("late", "ann", [Scope.READ], NOW, made_by=parent.token_id)
    assert caught.value.code is ErrorCode.UNAUTHENTICATED


def test_creating_and_revoking_are_audited_without_the_secret(database: Database) -> None:
    tokens = Tokens(database)
    token, secret = tokens.create("laptop", "ann", [Scope.READ], NOW, by="root")
    tokens.revoke(token.token_id, "root")
    tokens.revoke(token.token_id, "root")
    entries = audit(database)
    assert [(entry["action"], entry["by"], entry["token_id"]) for entry in entries] == [
        ("token.created", "root", token.token_id),
        ("token.revoked", "root", token.token_id),
    ]
    assert secret not in json.dumps(entries)


def test_only_an_existing_token_within_reach_can_be_revoked(database: Database) -> None:
    tokens = Tokens(database)
    token, secret = tokens.create("t", "ann", [Scope.READ], NOW)
    child, _ = tokens.create("child", "ann", [Scope.READ], NOW, made_by=token.token_id)
    unknown = "00000000-0000-7000-8000-000000000000"
    for token_id, within in ((token.token_id, child.token_id), (token.token_id, unknown), (unknown, None)):
        with pytest.raises(Refusal) as caught:
            tokens.revoke(token_id, "ann", within=within)
        assert caught.value.code is ErrorCode.NOT_FOUND
    assert tokens.authenticate(secret) is not None


def test_the_first_start_makes_an_admin_token_with_every_scope_in_a_private_file(
    database: Database, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    made = ensure_admin_token(database, data_dir)
    file = data_dir / FILE_NAME
    assert made.created
    assert file.read_text() == made.secret + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in data_dir.iterdir()] == [FILE_NAME]
    principal = Tokens(database).authenticate(made.secret)
    assert principal is not None
    assert principal.user_id == ADMIN_USER
    assert principal.scopes == frozenset(Scope)


def test_later_starts_keep_the_admin_token_and_close_its_file_again(
    database: Database, tmp_path: Path
) -> None:
    made = ensure_admin_token(database, tmp_path)
    (tmp_path / FILE_NAME).chmod(0o644)
    assert ensure_admin_token(database, tmp_path) == (made.secret, False)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert len(Tokens(database).list_for(None)) == 1


@pytest.mark.parametrize("content", [None, "", "apr_wrong\n", "ä"])
def test_a_lost_or_spoiled_admin_file_is_made_anew_and_the_old_token_revoked(
    database: Database, tmp_path: Path, content: str | None
) -> None:
    tokens = Tokens(database)
    _, other = tokens.create("mine", ADMIN_USER, [Scope.READ], NOW)
    old = ensure_admin_token(database, tmp_path)
    file = tmp_path / FILE_NAME
    file.unlink() if content is None else file.write_text(content, encoding="utf-8")
    new = ensure_admin_token(database, tmp_path)
    assert new.created
    assert tokens.authenticate(old.secret) is None
    assert tokens.authenticate(new.secret) is not None
    assert tokens.authenticate(other) is not None


def test_an_admin_token_that_was_revoked_is_replaced(database: Database, tmp_path: Path) -> None:
    tokens = Tokens(database)
    old = ensure_admin_token(database, tmp_path)
    principal = tokens.authenticate(old.secret)
    assert principal is not None
    tokens.revoke(principal.token_id, ADMIN_USER)
    new = ensure_admin_token(database, tmp_path)
    assert new.created
    assert tokens.authenticate(new.secret) is not None


def test_when_the_file_cannot_be_written_no_token_is_left_behind(database: Database, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OSError, match=r"Not a directory|File exists"):
        ensure_admin_token(database, blocked)
    with database.read() as connection:
        assert connection.execute(select(access_tokens)).all() == []
