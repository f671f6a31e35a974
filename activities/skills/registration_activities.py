"""Registers tools and skills: a folder among the managed ones, which awaits its approval (AI-18, AI-19, X-4)."""

from datetime import UTC, datetime

from temporalio import activity

from activities.platform.refusals import refusing
from activities.skills.catalog_activities import SkillCatalogActivities
from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.manifest import SkillBackend, SkillManifest, ToolRecord
from contracts.skills.registration import (
    RegisteredTool,
    RegisterSkill,
    RegisterSkillResponse,
    RegisterTool,
    RegisterToolResponse,
)
from domain.skills.entries import catalog_entry
from domain.skills.manifest_reading import MalformedSkill
from domain.skills.registering import registered_folder, tool_problem
from domain.skills.versions import breaks_without_major, version_of
from skills.runtime.local_programs import resolve
from skills.runtime.roots import SkillRoots
from stores.platform.projection.atomic_files import FileTree
from stores.skills.catalog import SkillCatalog
from stores.skills.registered_tools import RegisteredTools


class SkillRegistrationActivities:
    """Writes what is registered; nothing of it is run before a person has approved the folder as it is."""

    def __init__(
        self,
        catalog: SkillCatalog,
        reading: SkillCatalogActivities,
        roots: SkillRoots,
        tools: RegisteredTools,
        managed: FileTree,
    ) -> None:
        self._catalog = catalog
        self._reading = reading
        self._roots = roots
        self._tools = tools
        self._managed = managed

    @activity.defn
    @refusing
    def register_tool(self, order: RegisterTool) -> RegisterToolResponse:
        """Keeps a tool; skills that were registered with an earlier form of it go on with that.

        Raises:
            Refusal: ``SKILL_MALFORMED``, the tool is code, has no address, or its program is not on this machine.
        """
        tool = order.tool
        problem = tool_problem(tool)
        if problem is None and tool.backend is SkillBackend.OS_COMMAND and resolve(tool.entrypoint) is None:
            problem = "entrypoint: there is no such program on this machine"
        if problem is not None:
            raise Refusal(ErrorCode.SKILL_MALFORMED, f"tool.{problem}")
        before = self._tools.find(tool.tool_id)
        if before is None or before.tool != tool:
            version = before.tool_version + 1 if before is not None else 1
            before = RegisteredTool(
                tool=tool, tool_version=version, registered_by=order.by, registered_at=datetime.now(UTC)
            )
            self._tools.put(before)
        return RegisterToolResponse(
            tool=tool, tool_version=before.tool_version, used_by=self._with_another(tool)
        )

    @activity.defn
    @refusing
    def register_skill(self, order: RegisterSkill) -> RegisterSkillResponse:
        """Writes the skill's folder and reads the roots again; the skill awaits approval.

        Raises:
            Refusal: ``SKILL_MALFORMED``, a tool or schema is not there, or the manifest is wrong; ``CONFLICT``, the
                name is taken, or the version is not above the one that is there. Nothing is written then.
        """
        try:
            manifest, files = registered_folder(
                order.name, order.manifest, self._found(order.tools), order.documentation, self._manifests()
            )
        except MalformedSkill as error:
            raise Refusal(ErrorCode.SKILL_MALFORMED, error.reason[:500]) from error
        self._refuse_taken(manifest)
        before = self._before(order.name)
        if before != manifest:
            self._refuse_older(before, manifest)
            for name, text in files.items():
                self._managed.replace(f"{order.name}/{name}", [text.encode()])
            self._managed.settle()
            self._reading.reload()
        entry = catalog_entry(self._seen(order.name))
        return RegisterSkillResponse(
            skill=entry, next_action=entry.next_action or f"Run it: apprentice skills run {order.name}"
        )

    def _found(self, wanted: tuple[str, ...]) -> list[ToolRecord]:
        tools: list[ToolRecord] = []
        for number, tool_id in enumerate(wanted):
            found = self._tools.find(tool_id) if _is_id(tool_id) else None
            if found is None:
                raise MalformedSkill(f"tools[{number}]: no tool of this id is registered")
            tools.append(found.tool)
        return tools

    def _manifests(self) -> list[SkillManifest]:
        ready = self._catalog.all([SkillState.READY])
        return [one.manifest for one in ready if one.manifest is not None]

    def _with_another(self, tool: ToolRecord) -> tuple[str, ...]:
        return tuple(
            manifest.name
            for manifest in self._manifests()
            if any(one.tool_id == tool.tool_id and one != tool for one in manifest.tools)
        )

    def _before(self, name: str) -> SkillManifest | None:
        seen = self._roots.inspect(name, SkillRoot.MANAGED, datetime.now(UTC))
        return seen.manifest if seen is not None else None

    def _seen(self, name: str) -> SkillRecord:
        """The folder as it was written, with the state that the catalog gives it."""
        seen = self._roots.inspect(name, SkillRoot.MANAGED, datetime.now(UTC))
        listed = [one for one in self._catalog.named(name) if one.root is SkillRoot.MANAGED]
        if seen is None or not listed:
            raise Refusal(
                ErrorCode.CONFLICT, "The skill's folder was taken away meanwhile; register it again."
            )
        return seen.changed(state=listed[0].state, reason=listed[0].reason)

    def _refuse_taken(self, manifest: SkillManifest) -> None:
        for name in (manifest.name, manifest.function_name):
            for other in self._catalog.named(name):
                if (other.root, other.name) != (SkillRoot.MANAGED, manifest.name):
                    raise Refusal(
                        ErrorCode.CONFLICT,
                        f"The name is taken by a folder of the {other.root.value} root; choose another.",
                        taken_by=other.root.value,
                    )

    def _refuse_older(self, before: SkillManifest | None, after: SkillManifest) -> None:
        if before is None:
            return
        if version_of(after) <= version_of(before):
            raise Refusal(
                ErrorCode.CONFLICT,
                f"A changed skill has a higher version; {before.version} is there already.",
            )
        problem = breaks_without_major(before, after)
        if problem is not None:
            raise Refusal(ErrorCode.SKILL_MALFORMED, problem[:240])


def _is_id(tool_id: str) -> bool:
    return "/" not in tool_id and not tool_id.startswith(".")
