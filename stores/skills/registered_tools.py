"""Tools that were registered: a file each in the data directory, beside the allowlist."""

from contracts.skills.registration import RegisteredTool
from stores.platform.canonical import document_bytes
from stores.platform.projection.atomic_files import FileTree


class RegisteredTools:
    """One writer at a time: commands come one after another from the catalog's workflow."""

    def __init__(self, files: FileTree) -> None:
        self._files = files

    def find(self, tool_id: str) -> RegisteredTool | None:
        """The tool of this id, if one was registered."""
        try:
            text = (self._files.root / _name(tool_id)).read_bytes()
        except FileNotFoundError:
            return None
        return RegisteredTool.model_validate_json(text)

    def put(self, tool: RegisteredTool) -> None:
        """Keeps a tool in place of its earlier form."""
        self._files.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._files.replace(_name(tool.tool.tool_id), [document_bytes(tool.model_dump(mode="json"))])
        self._files.settle()


def _name(tool_id: str) -> str:
    return f"{tool_id}.json"
