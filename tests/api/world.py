"""Test data of the API tests: one object of every kind, and a digest of everything that is stored."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from sqlalchemy import func, literal, select, union_all
from uuid_utils import uuid7

from api.app import create_app
from config.settings import Settings
from contracts.imports.pack_install import PackInstall
from contracts.imports.requests import ImportTargetScope
from contracts.learning.install import SagaState
from stores.imports.pack_tables import PACK_INSTALLS
from stores.platform.tables import metadata
from tests.api.abilities.trial_world import add_trial
from tests.api.documents.acrobat_world import OUTPUT_DIGEST, add_output
from tests.api.mcp.grant_world import add_standing_approval
from tests.api.mcp.mcp_world import add_tool_server
from tests.api.mcp.sign_in_world import add_sign_in
from tests.api.skills.card_world import CARD_DIGEST, add_card
from tests.api.skills.memory_world import add_memories
from tests.fixtures.importing import Importer
from tests.fixtures.learner import Learner
from tests.fixtures.mined import add_mined
from tests.fixtures.practised import add_practice
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

CANARY = "canary-5f1c93e07b-must-never-be-said"
"""What tests put where a client could put a secret by mistake."""

BY_THE_CLOCK = frozenset({"journal_anchors"})
"""Tables that grow with time, whatever anybody asks."""

ALL_SCOPES = (*EVERYDAY_SCOPES, "admin")


@dataclass(frozen=True)
class Route:
    """One operation of the API."""

    operation_id: str
    method: str
    path: str
    body: type[BaseModel] | None = None

    @property
    def needs_body(self) -> bool:
        """Whether its body has a field that cannot be left out."""
        return self.body is not None and any(one.is_required() for one in self.body.model_fields.values())


WALLET = "0x" + "5e" * 20


@dataclass(frozen=True)
class Ids:
    """The ids that stand in a path."""

    session_id: str
    proposal_id: str
    saga_id: str
    event_id: str
    ability_id: str
    token_id: str
    run_id: str
    category_id: str
    item_kind: str
    item_id: str
    adapter_kind: str = "terminal_command"
    digest: str = OUTPUT_DIGEST
    card_digest: str = CARD_DIGEST
    candidate_id: str = "0199aa10-7c00-7000-8000-00000000002a"
    mining_run_id: str = "0199aa10-7c00-7000-8000-00000000002c"
    dispatch_id: str = "0199aa10-7c00-7000-8000-00000000002b"
    state_id: str = "0199aa10-7c00-7000-8000-00000000002e"
    trial_id: str = "0199aa10-7c00-7000-8000-00000000002f"
    mcp_dispatch_id: str = "nowhere"
    grant_id: str = "0199aa10-7c00-7000-8000-00000000002d"
    server_id: str = "nowhere"
    tool_name: str = "nowhere"
    auth_profile_id: str = "nowhere"
    name: str = "fetch-wallet-balance"
    invocation_id: str = "0199aa10-7c00-7000-8000-000000000030"
    wallet_address: str = WALLET
    jti: str = "nowhere"
    goal_id: str = "0199aa10-7c00-7000-8000-000000000034"
    memory_id: str = "0199aa10-7c00-7000-8000-000000000031"
    check_in_id: str = "0199aa10-7c00-7000-8000-000000000032"
    inbox_item_id: str = "0199aa10-7c00-7000-8000-000000000033"
    import_id: str = "0199aa10-7c00-7000-8000-000000000035"
    temp_artifact_ref: str = "temp-artifact-0199aa10-7c00-7000-8000-000000000036"
    pack_id: str = "nowhere"
    pack_install_id: str = "0199aa10-7c00-7000-8000-000000000037"

    def path_of(self, route: Route) -> str:
        """The route's path with these ids in it."""
        return route.path.replace(":path", "").format(
            **vars(self), workflow_id=f"learn-session/{self.session_id}"
        )


@dataclass(frozen=True)
class World:
    """Alice's objects: a session that waits for her review, one that was rejected, one that is installed."""

    stack: Stack
    alice: Learner
    mallory: Learner
    waiting: Ids
    rejected: Ids
    nowhere: Ids

    def footprint(self) -> dict[str, object]:
        """How many rows every table has, and every file's digest."""
        return footprint(self.stack)


async def build_world(stack: Stack) -> World:
    """Teaches three times: once rejected, once installed privately, once left for review."""
    alice = stack.learner("alice", ALL_SCOPES)
    me = await alice.ok("GET", "/api/me")
    event_id = await _taught(alice)
    await alice.propose_act("reject", {"reason": "not this one"})
    rejected = (alice.session_id, alice.proposal_id, event_id)
    await _taught(alice)
    installed = await alice.propose_act("install", {"install_lane": "experimental_private"})
    event_id = await _taught(alice)
    category = await alice.ok("POST", "/api/categories", {"title": "Figures"})
    common = {
        "saga_id": installed["saga_id"],
        "ability_id": installed["ability_id"],
        "token_id": me["token_id"],
        "run_id": str(uuid7()),
        "category_id": category["category_id"],
        "item_kind": "learned_ability",
        "item_id": installed["ability_id"],
        **await add_tool_server(stack, alice),
        **await add_sign_in(alice),
        **await add_invocation(alice),
        **add_memories(stack.database, "alice"),
        **await add_import(alice),
    }
    add_pack_install(stack, Ids.pack_install_id)
    seen = {"checkpoint_id": "cp-01", "status": "reached", "evidence": "seen"}
    dispatch = {"dispatch_id": Ids.dispatch_id, "ability_id": installed["ability_id"]}
    await alice.ok("POST", "/api/bridge/verify-checkpoint", {**seen, **dispatch})
    add_mined(stack.database, "alice", Ids.candidate_id, Ids.mining_run_id)
    add_practice(stack.database, "alice", alice.session_id)
    add_output(stack.database, "alice")
    add_card(stack.database, "alice")
    add_trial(stack.database, "alice", installed["ability_id"], Ids.trial_id)
    add_standing_approval(stack.database, "alice", Ids.grant_id)
    return World(
        stack=stack,
        alice=alice,
        mallory=stack.learner("mallory", (*EVERYDAY_SCOPES, "call")),
        waiting=Ids(alice.session_id, alice.proposal_id, event_id=event_id, **common),
        rejected=Ids(rejected[0], rejected[1], event_id=rejected[2], **common),
        nowhere=Ids(
            *(str(uuid7()) for _ in range(8)),
            "connector",
            str(uuid7()),
            adapter_kind=str(uuid7()),
            digest="0" * 64,
            card_digest="0" * 64,
            candidate_id=str(uuid7()),
            mining_run_id=str(uuid7()),
            dispatch_id=str(uuid7()),
            state_id=str(uuid7()),
            trial_id=str(uuid7()),
            mcp_dispatch_id=str(uuid7()),
            grant_id=str(uuid7()),
            name="nowhere",
            invocation_id=str(uuid7()),
            wallet_address="0x" + "00" * 20,
            jti=str(uuid7()),
            goal_id=str(uuid7()),
            memory_id=str(uuid7()),
            check_in_id=str(uuid7()),
            inbox_item_id=str(uuid7()),
            import_id=str(uuid7()),
            temp_artifact_ref=f"temp-artifact-{uuid7()}",
            pack_install_id=str(uuid7()),
        ),
    )


async def add_import(alice: Learner) -> dict[str, str]:
    """A bundle that is scanned, staged, and waits for review; its upload is kept, and it is in a pack."""
    importer = Importer(alice)
    await importer.ready()
    manifest = {"pack_id": "tables", "title": "Tables", "description": "", "skills": ["tidy-tables"]}
    await alice.ok("POST", "/api/skills/packs", manifest)
    return {"import_id": importer.import_id, "temp_artifact_ref": importer.upload_ref, "pack_id": "tables"}


def add_pack_install(stack: Stack, pack_install_id: str) -> None:
    """An install of Alice's pack that has ended."""
    at = datetime(2026, 3, 2, tzinfo=UTC)
    ended = PackInstall(
        pack_install_id=pack_install_id,
        pack_id="tables",
        pack_version=1,
        owner_user_id="alice",
        target_scope=ImportTargetScope.PRIVATE,
        state=SagaState.INSTALLED,
        members=(),
        workflow_id=f"pack-install/{pack_install_id}",
        correlation_id="test",
        started_at=at,
        updated_at=at,
    )
    with stack.database.write() as connection:
        PACK_INSTALLS.add(connection, ended)


async def add_invocation(alice: Learner) -> dict[str, str]:
    """A wallet, an invocation that was only tried out, and an approval of content."""
    await alice.ok("POST", "/api/wallets", {"wallet_address": WALLET, "currency": "USDC"})
    asked = {"input": {"wallet_address": WALLET}, "dry_run": True}
    tried = await alice.ok("POST", f"/api/skills/{Ids.name}/invocations", asked)
    approved = {"content": {"content_id": str(uuid7()), "script": "Hello."}, "platforms": ["twitter"]}
    approval = await alice.ok("POST", "/api/skills/approval-tokens", approved)
    return {"invocation_id": tried["invocation_id"], "jti": approval["jti"]}


async def _taught(alice: Learner) -> str:
    await alice.teach(allow_private_install=True)
    observed = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/observations")
    return str(observed["observations"][0]["event_id"])


_COUNTS = union_all(
    *(
        select(literal(table.name), func.count()).select_from(table)
        for table in metadata.sorted_tables
        if table.name not in BY_THE_CLOCK
    )
)


def footprint(stack: Stack) -> dict[str, object]:
    """How many rows every table has, and the digest of every file in memory and workspace."""
    # What was committed may still be on its way to the files.
    stack.projector.catch_up()
    with stack.database.read() as connection:
        rows: dict[str, object] = {name: count for name, count in connection.execute(_COUNTS)}
    for root in (stack.settings.memory_root, stack.settings.workspace):
        for path in root.rglob("*"):
            if path.is_file():
                found = path.stat()
                rows[str(path)] = _digest(path, found.st_ino, found.st_size, found.st_ctime_ns)
    return rows


@cache
def _digest(path: Path, inode: int, size: int, changed_ns: int) -> str:
    """Read once as long as the file system says that nobody has touched the file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def api_routes() -> dict[str, Route]:
    """Every route that the application has, in its document or not, by its operation id; no former ones."""
    found: dict[str, Route] = {}
    for context in iter_route_contexts(create_app(Settings()).routes):
        operation_id = getattr(context, "operation_id", None)
        if operation_id is None:
            if getattr(context, "deprecated", False):
                continue
            assert not context.path.startswith("/api/"), f"{context.path} has no operation id"
            continue
        (method,) = context.methods
        assert operation_id not in found, f"two routes are called {operation_id}"
        field = getattr(context, "body_field", None)
        found[operation_id] = Route(operation_id, method, context.path, _model(field))
    return found


def _model(field: Any) -> type[BaseModel] | None:
    annotation = None if field is None else field.field_info.annotation
    models = (one for one in (annotation, *get_args(annotation)) if _is_model(one))
    return next(models, None)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


ROUTES = api_routes()


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, made when the first test asks for it: not by each process that only collects."""
    return create_app(Settings()).openapi()


def operation_of(route: Route) -> dict[str, Any]:
    """The route in the OpenAPI document."""
    operation: dict[str, Any] = document()["paths"][route.path.replace(":path", "")][route.method.lower()]
    return operation


def schema_of(route: Route) -> Mapping[str, Any]:
    """The JSON schema of the route's body, references followed one step; empty without a body."""
    operation = operation_of(route)
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return resolved(content["schema"]) if content else {}


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a reference, or what stands beside ``null``."""
    if "$ref" in schema:
        return resolved(document()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    if "anyOf" in schema:
        return resolved(next(one for one in schema["anyOf"] if one.get("type") != "null"))
    return schema
