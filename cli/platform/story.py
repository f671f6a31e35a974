"""Prints a sequence of steps: a spinner while one runs, then a mark, its duration and its result."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from cli.platform.output import FAILED, PASSED, print_parts


@dataclass
class Step:
    """One step while it goes on. ``facts`` go into the JSON, ``lines`` under the mark."""

    title: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: list[RenderableType] = field(default_factory=list[RenderableType])
    seconds: float = 0.0
    _live: Live | None = None

    def say(self, text: str) -> None:
        """Add a line, in markup, under the step."""
        self.lines.append(Text.from_markup(f"    {text}"))

    def show(self, view: RenderableType, indent: int = 4) -> None:
        """Add a view made of lines, moved to the right."""
        for part in view.renderables if isinstance(view, Group) else (view,):
            lines = part.split("\n") if isinstance(part, Text) else ()
            self.lines.extend(Text(" " * indent) + line for line in lines)

    def draw(self, picture: RenderableType, doing: str | None = None) -> None:
        """Show a picture that replaces the one before; the last one stays."""
        self.lines = [picture]
        if self._live is not None:
            self._live.update(Group(Spinner("dots", f" {doing or self.title}"), picture))


class Story:
    """The steps told so far. With ``as_json`` nothing is shown, and :meth:`end` prints one document."""

    def __init__(self, console: Console, *, as_json: bool) -> None:
        self.console = console
        self._as_json = as_json
        self._steps: list[dict[str, Any]] = []

    def say(self, *parts: RenderableType) -> None:
        """Print for people."""
        if not self._as_json:
            print_parts(self.console, parts)

    @contextmanager
    def step(self, title: str, *, takes_long: bool = False) -> Generator[Step]:
        """Tell one step; an error passes through after the step is marked as failed.

        A terminal shows a spinner meanwhile; anything else is told beforehand of a step that ``takes_long``.
        """
        step = Step(title)
        started = time.monotonic()
        passed = False
        try:
            if self._as_json:
                yield step
            elif self.console.is_terminal:
                with Live(Spinner("dots", f" {title}"), console=self.console, transient=True) as live:
                    step._live = live  # pyright: ignore[reportPrivateUsage]
                    yield step
            else:
                if takes_long:
                    self.console.print(f"… {title}")
                yield step
            passed = True
        finally:
            step.seconds = time.monotonic() - started
            self._finish(step, passed=passed)

    def end(self, *, ok: bool, **facts: Any) -> None:
        """With ``as_json``, print the whole story."""
        if self._as_json:
            typer.echo(json.dumps({"ok": ok, **facts, "steps": self._steps}, indent=2, default=str))

    def _finish(self, step: Step, *, passed: bool) -> None:
        told = {"step": step.title, "ok": passed, "seconds": round(step.seconds, 3), **step.facts}
        self._steps.append(told)
        mark = PASSED if passed else FAILED
        self.say(Text.from_markup(f"{mark} {escape(step.title)}  [dim]{step.seconds:.1f} s[/]"), *step.lines)
