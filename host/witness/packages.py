"""Witness of installed packages: distributions of virtual environments, dependencies of ``package.json``, node_modules.

Read from the folders of metadata; no interpreter and no package manager runs.
"""

import json
import re
from collections.abc import Iterator
from typing import cast

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFolder, LimitReached, readable
from host.witness.fact import FactMaker

fact = FactMaker("packages")

MAX_ENVIRONMENTS = 20
"""Virtual environments of one folder."""

MAX_PACKAGES = 1_000
"""Packages of one environment."""

_MAX_METADATA_BYTES = 1024 * 1024
_MAX_MANIFEST_BYTES = 1024 * 1024
_NAME = re.compile(rb"^Name:[ \t]*(\S[^\r\n]{0,200})", re.MULTILINE)
_VERSION = re.compile(rb"^Version:[ \t]*(\S[^\r\n]{0,100})", re.MULTILINE)
_FOLDER_NAME = re.compile(r"(.+?)-([^-]+)\.dist-info")
_SEPARATORS = re.compile(r"[-_.]+")
_DEPENDENCIES = (
    ("dependencies", "dependency"),
    ("devDependencies", "development dependency"),
    ("optionalDependencies", "optional dependency"),
)


class PackageWitness:
    """Facts of the packages in a folder, by the environment's or manifest's path."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of the environments and manifests of ``folder``.

        Raises:
            LimitReached: the budget is spent; what was given until then stands.
        """
        entries = folder.entries
        for number, path in enumerate(folder.environments):
            if number >= MAX_ENVIRONMENTS:
                raise LimitReached("too many environments")
            yield from _of_environment(folder, path)
        for entry in entries:
            if entry.kind == "file" and entry.name == "package.json":
                yield from _of_manifest(folder, entry.path)
            elif entry.kind == "folder" and entry.name == "node_modules":
                yield from _of_node_modules(folder, entry.path)


def _of_environment(folder: BoundedFolder, path: str) -> Iterator[StateFact]:
    subject = readable(path)
    yield fact(subject, "environment", "Python")
    count = 0
    for interpreter in folder.names(f"{path}/lib"):
        packages = f"{path}/lib/{interpreter}/site-packages"
        for name in folder.names(packages):
            if not name.endswith(".dist-info"):
                continue
            count += 1
            if count > MAX_PACKAGES:
                raise LimitReached("too many packages")
            if (found := _distribution(folder, packages, name)) is not None:
                yield fact(subject, f"package {found[0]}", found[1])


def _distribution(folder: BoundedFolder, packages: str, name: str) -> tuple[str, str] | None:
    """Name (normalised as the index does) and version of a distribution."""
    content = folder.read(f"{packages}/{name}/METADATA", _MAX_METADATA_BYTES)
    if content is None:
        return None
    head = re.split(rb"\r?\n\r?\n", content, maxsplit=1)[0]
    called, version = _NAME.search(head), _VERSION.search(head)
    by_folder = _FOLDER_NAME.fullmatch(readable(name))
    if called is not None and version is not None:
        found = called[1].decode("utf-8", "replace").strip(), version[1].decode("utf-8", "replace").strip()
    elif by_folder is not None:
        found = by_folder[1], by_folder[2]
    else:
        return None
    return _SEPARATORS.sub("-", found[0]).lower(), found[1]


def _of_manifest(folder: BoundedFolder, path: str) -> Iterator[StateFact]:
    manifest = _json(folder, path)
    if manifest is None:
        yield fact(readable(path), "manifest", "not readable")
        return
    for key, word in _DEPENDENCIES:
        wanted = manifest.get(key)
        if isinstance(wanted, dict):
            listed = list(cast(dict[str, object], wanted).items())
            for name, version in listed[:MAX_PACKAGES]:
                yield fact(readable(path), f"{word} {name}", str(version)[:1000])


def _of_node_modules(folder: BoundedFolder, path: str) -> Iterator[StateFact]:
    subject = readable(path)
    yield fact(subject, "environment", "Node")
    names: list[str] = []
    for name in folder.names(path):
        if name.startswith("@"):
            names += (f"{name}/{inner}" for inner in folder.names(f"{path}/{name}"))
        elif not name.startswith("."):
            names.append(name)
    for name in names[:MAX_PACKAGES]:
        manifest = _json(folder, f"{path}/{name}/package.json")
        if manifest is not None and isinstance(version := manifest.get("version"), str):
            yield fact(subject, f"package {readable(name)}", version)


def _json(folder: BoundedFolder, path: str) -> dict[str, object] | None:
    content = folder.read(path, _MAX_MANIFEST_BYTES)
    if content is None:
        return None
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, object], found) if isinstance(found, dict) else None
