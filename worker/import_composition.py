"""Workflows and activities of skill imports, for the worker."""

from collections.abc import Callable, Sequence
from typing import Any

from activities.imports.bundle_reading import BundleReader
from activities.imports.import_activities import ImportActivities
from activities.imports.pack_activities import PackActivities
from stores.imports.import_installs import ImportInstalls
from stores.imports.imports import SkillImports
from stores.imports.installed_names import InstalledNames
from stores.imports.pack_installs import PackInstalls
from stores.imports.uploads import BundleUploads
from worker.resources import WorkerResources
from workflows.imports.import_validation_workflow import ImportValidationWorkflow
from workflows.imports.pack_install_workflow import PackInstallWorkflow
from workflows.imports.skill_import_workflow import SkillImportWorkflow

IMPORT_WORKFLOWS: Sequence[type] = (SkillImportWorkflow, ImportValidationWorkflow, PackInstallWorkflow)


def import_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """Activities of imports."""
    database = shared.database
    imports = ImportActivities(
        SkillImports(database),
        ImportInstalls(database),
        BundleUploads(database),
        BundleReader(InstalledNames(database).of),
        shared.projection.wake,
    )
    packs = PackActivities(PackInstalls(database), shared.projection.wake)
    return (
        imports.read_import,
        imports.command_import,
        imports.settle_import,
        imports.scan_bundle,
        imports.stage_bundle,
        imports.prepare_install,
        imports.keep_validation,
        packs.read_pack_install,
        packs.open_pack_install,
        packs.cancel_pack_install,
        packs.note_pack_progress,
        packs.settle_pack_install,
        packs.tell_imports,
    )
