"""Checks that a tool's handler is there and can be called, without running any of it (AM-09, AM-31)."""

import ast
import re
import shutil
import subprocess

from contracts.skills.manifest import SkillBackend, SkillManifest, ToolRecord
from skills.runtime.folder_digest import FolderContent, MalformedFolder
from skills.runtime.local_programs import SEARCH_PATH

_EXPORT = re.compile(r"\bmodule\s*\.\s*exports\b|\bexports\s*\.\s*handle\b")
_CHECK_SECONDS = 10.0


def check_python_handlers(manifest: SkillManifest, content: FolderContent) -> None:
    """Refuses a manifest one of whose tools names a handler in Python that is not there, or cannot be called.

    Raises:
        MalformedFolder: with the tool's file and the reason.
    """
    for tool in manifest.tools:
        if tool.backend is SkillBackend.PYTHON:
            _check_python(manifest, tool, content)


def check_javascript_handlers(manifest: SkillManifest, content: FolderContent) -> None:
    """The same of handlers in JavaScript; what it says depends on whether Node is installed.

    Raises:
        MalformedFolder: with the tool's file and the reason.
    """
    for tool in manifest.tools:
        if tool.backend is SkillBackend.NODE:
            _check_javascript(tool, content)


def _check_python(manifest: SkillManifest, tool: ToolRecord, content: FolderContent) -> None:
    text = _text(tool, content)
    try:
        module = ast.parse(text, tool.entrypoint)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise MalformedFolder(f"{tool.entrypoint} is no Python{line}") from error
    names = _names(module.body)
    for needed in ("handle", "check") if manifest.has_check else ("handle",):
        if needed not in names:
            raise MalformedFolder(f"{tool.entrypoint} has no function {needed}(params, context)")


def _names(body: list[ast.stmt]) -> set[str]:
    """The names that a module binds at its top level, also in branches."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.If | ast.Try):
            names |= _names(statement.body) | _names(statement.orelse)
    return names


def _check_javascript(tool: ToolRecord, content: FolderContent) -> None:
    text = _text(tool, content)
    node = shutil.which("node", path=SEARCH_PATH)
    if node is None:
        raise MalformedFolder(f"{tool.entrypoint} needs Node, which is not installed here")
    if not _EXPORT.search(text):
        raise MalformedFolder(f"{tool.entrypoint} exports no handler; module.exports has to be a function")
    try:
        parsed = subprocess.run(
            [node, "--check", "-"],
            input=text.encode(),
            capture_output=True,
            timeout=_CHECK_SECONDS,
            env={},
            cwd="/",
        )
    except subprocess.TimeoutExpired as error:
        raise MalformedFolder(f"{tool.entrypoint} takes too long to parse") from error
    if parsed.returncode != 0:
        raise MalformedFolder(f"{tool.entrypoint} is no JavaScript")


def _text(tool: ToolRecord, content: FolderContent) -> str:
    text = content.text(tool.entrypoint)
    if text is None:
        raise MalformedFolder(f"{tool.entrypoint}, which tool {tool.tool_id} names, is not in the folder")
    return text
