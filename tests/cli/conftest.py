"""A whole service for the commands to talk to, and a demonstration as a recorder would report it."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import uuid_utils
from typer.testing import CliRunner, Result

from cli.demo.stack import DemoStack
from cli.main import app
from cli.platform.run_state import RunState
from clients.apprentice.api import ApprenticeApi
from contracts.learning.observation import (
    ExitClass,
    IngestObservationsRequest,
    ObservationAdapterKind,
    ObservedActionEvent,
    ProducedFile,
    TerminalObservation,
)
from contracts.platform.identity import CreateTokenRequest, Scope
from tests.fixtures.served import served
from tests.fixtures.stack import Stack
from tests.fixtures.thoroughness import life_of_processes


@pytest.fixture(scope=life_of_processes)
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunState]:
    """Temporal, worker and API, for all tests that type commands."""
    with DemoStack(tmp_path_factory.mktemp("stack")) as stack:
        yield stack.start()


@dataclass
class Person:
    """Somebody with a token of their own, typing commands."""

    state: RunState
    token: str

    def types(self, group: str, *arguments: str, answers: str | None = None) -> Result:
        """Run a group's command; what it prints is in ``stdout`` and ``stderr``."""
        environment = {"APPRENTICE_API_URL": self.state.api_url, "APPRENTICE_TOKEN": self.token}
        return CliRunner().invoke(app, [group, *arguments], input=answers, env=environment)

    def gets(self, *arguments: str) -> Any:
        """Run the command with ``--json`` and read what it prints; it must succeed."""
        result = self.types(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def shows(self, session_id: str, *commands: tuple[str, tuple[str, ...]]) -> None:
        """Report commands and the files they made, as the terminal recorder does."""
        start = datetime.now(UTC)
        events = [
            _event(session_id, command, made, start + timedelta(seconds=number))
            for number, (command, made) in enumerate(commands)
        ]
        with ApprenticeApi(self.state.api_url, self.token) as api:
            answer = api.learn.ingest(session_id, IngestObservationsRequest(events=tuple(events)))
        assert answer.accepted == len(events)


def _event(session_id: str, command: str, made: tuple[str, ...], at: datetime) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=str(uuid_utils.uuid7()),
        learn_session_id=session_id,
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        app_family="terminal",
        action_label=command[:240],
        caused_state_change=bool(made),
        terminal=TerminalObservation(
            command=command,
            exit_class=ExitClass.OK,
            working_folder=".",
            produced_files=tuple(ProducedFile(path=path, change="created", size_bytes=10) for path in made),
        ),
        created_at=at,
    )


@pytest.fixture
async def api_url(stack: Stack) -> AsyncIterator[str]:
    """The address of one test's own service."""
    async with served(stack) as url:
        yield url


@pytest.fixture
def person(service: RunState) -> Iterator[Person]:
    """A new person, who has never taught anything."""
    rights = tuple(scope for scope in Scope if scope is not Scope.ADMIN)
    request = CreateTokenRequest(name="test", user_id=f"user-{uuid4().hex[:12]}", scopes=rights)
    with ApprenticeApi(service.api_url, service.admin_token) as api:
        made = api.tokens.create_token(request)
        yield Person(service, made.secret)
        api.tokens.revoke_token(made.token.token_id)


@pytest.fixture
def taught(person: Person) -> Callable[[str], str]:
    """Takes a session of ``person`` about a subject up to the end of its capture; answers its id.

    Subjects differ from test to test: what one test approves is there for everybody, and what resembles it
    would rightly fail its trigger checks.
    """

    def teach(subject: str) -> str:
        session_id: str = person.gets("learn", "create", "--only", "terminal")["session"]["learn_session_id"]
        person.shows(
            session_id,
            (f"printf 'b\\na\\n' > {subject}.txt", (f"{subject}.txt",)),
            (f"sort {subject}.txt > {subject}-sorted.txt", (f"{subject}-sorted.txt",)),
            (f"tar -czf {subject}.tar.gz {subject}.txt {subject}-sorted.txt", (f"{subject}.tar.gz",)),
        )
        person.gets("learn", "mark-goal", f"Sort the {subject} list and pack it")
        person.gets("learn", "stop")
        return session_id

    return teach
