"""The option or argument of a command that fills a field of its request, for messages about that field."""

import inspect
import re
from collections.abc import Mapping, Sequence

from typer.models import ArgumentInfo, OptionInfo

_PATH = re.compile(r"\bbody(?:\.\w+)+")


class OptionNames:
    """Names of one command's options, found by the path of a field: ``body.source_trace_ids.0`` is ``--from-run``."""

    def __init__(
        self, parameters: Sequence[inspect.Parameter] = (), fields: Mapping[str, str] | None = None
    ) -> None:
        """``fields`` are parameters by the field they fill, where that is named otherwise."""
        names = {one.name: _name(one) for one in parameters}
        self._names = names | {field: names[parameter] for field, parameter in (fields or {}).items()}

    def of(self, path: str) -> str:
        """The option, with what is named inside it (a key, no number); the path itself where no option fills it."""
        steps = path.removeprefix("body.").split(".")
        for end in range(len(steps), 0, -1):
            if option := self._names.get(".".join(steps[:end])):
                return " ".join((option, *(step for step in steps[end:] if not step.isdigit())))
        return self._names.get(steps[-1], path)

    def put_into(self, message: str) -> str:
        """``message`` with options in the place of paths into a request's body."""
        return _PATH.sub(lambda found: self.of(found.group()), message)


def _name(parameter: inspect.Parameter) -> str:
    """As it is typed: the option's first name, or what stands for the argument in the help."""
    for one in getattr(parameter.annotation, "__metadata__", ()):
        if isinstance(one, ArgumentInfo):
            return one.metavar or parameter.name.upper()
        if isinstance(one, OptionInfo):
            # In an annotation, typer has the first name in the place of the default.
            given = (one.default, *(one.param_decls or ()))
            names = [name for name in given if isinstance(name, str) and name.startswith("--")]
            if names:
                return names[0]
    return f"--{parameter.name.replace('_', '-')}"
