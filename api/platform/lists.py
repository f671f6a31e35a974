"""Pages, order and filters of the short lists that one person owns: tokens, servers, sign-ins, categories and others.

Such a list is read whole and cut here, so that every list takes the same parameters: ``page`` and ``page_size``,
``sort`` by one of its fields (``-`` before it: the other way round), ``q`` for words in any of them, and a filter by
the name of a field, which takes several values where they are an enumeration. Without a page the whole list is
answered. Lists that grow without bound are paged by their store (``PageDep``).
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

from fastapi import Query
from pydantic import BaseModel

from api.platform.dependencies import AnyOf, SearchQuery, TrueOrFalse
from contracts.platform.lists import ListCounts
from stores.platform.database import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE

L = TypeVar("L", bound=ListCounts)

_PAGE = Annotated[int | None, Query(ge=1, le=1_000_000, description="The whole list where none is named.")]
_PAGE_SIZE = Annotated[int | None, Query(ge=1, le=MAX_PAGE_SIZE)]
_NAMED = Query(
    min_length=1, max_length=160, pattern=r"^[^\x00-\x1f\x7f]+$", description="Only with this value."
)


@dataclass(frozen=True)
class ListRequest:
    """What is wanted of a list."""

    page: int | None = None
    page_size: int | None = None
    sort: str | None = None
    q: str | None = None
    among: Mapping[str, Sequence[object]] = field(default_factory=dict[str, Sequence[object]])
    """By the name of a field the values of which it has to have one."""


class ListOf:
    """One list: the fields of its items to sort and search by, and those to filter by."""

    def __init__(
        self, name: str, item: type[BaseModel], fields: str, *, filters: str = "", within: str = ""
    ) -> None:
        """``name`` is the answer's field with the items; ``fields`` and ``filters`` are names separated by blanks.

        ``within`` is the part of an item that has the fields, of the class ``item``. A field of a deeper part is
        written with its place: ``tool_name=definition.tool_name``.
        """
        self._name = name
        self._read: dict[str, Callable[[Any], Any]] = {}
        for one in fields.split():
            called, _, place = one.partition("=")
            self._read[called] = attrgetter(place or (f"{within}.{called}" if within else called))
        self._filters = {one: _filter(item, one) for one in filters.split()}

    @property
    def wanted(self) -> Callable[..., Coroutine[Any, Any, ListRequest]]:
        """The dependency that reads the parameters of a request."""
        orders: Any = cast("Any", Literal)[tuple(o for one in self._read for o in (one, f"-{one}"))]
        parameters: dict[str, Any] = {
            "page": _PAGE,
            "page_size": _PAGE_SIZE,
            "sort": Annotated[orders | None, Query(description="``-`` before it: the other way round.")],
            "q": SearchQuery,
            **self._filters,
        }

        async def read(**given: Any) -> ListRequest:
            among: dict[str, Sequence[object]] = {
                name: cast("list[object]", value) if isinstance(value, list) else [value]
                for name in self._filters
                if (value := given[name]) is not None
            }
            return ListRequest(given["page"], given["page_size"], given["sort"], given["q"], among)

        read.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
                for name, annotation in parameters.items()
            ]
        )
        return read

    def listed(self, answer: L, wanted: ListRequest) -> L:
        """``answer`` with the items that are wanted, and their counts."""
        items: Sequence[Any] = getattr(answer, self._name)
        items = [item for item in items if self._matches(item, wanted)]
        if wanted.sort is not None:
            items = _sorted(items, self._read[wanted.sort.removeprefix("-")], wanted.sort.startswith("-"))
        total = len(items)
        page, size = wanted.page or 1, wanted.page_size
        if size is None:
            size = max(total, 1) if wanted.page is None else DEFAULT_PAGE_SIZE
        shown = tuple(items[(page - 1) * size : page * size])
        return answer.changed(**{self._name: shown}, total=total, page=page, page_size=size)

    def _matches(self, item: Any, wanted: ListRequest) -> bool:
        if any(self._read[name](item) not in values for name, values in wanted.among.items()):
            return False
        if wanted.q is None:
            return True
        text = "\n".join(_text(read(item)) for read in self._read.values()).casefold()
        return all(word in text for word in wanted.q.casefold().split())


def _filter(item: type[BaseModel], name: str) -> Any:
    """The type of a filter's parameter: as the field, so that a value it never has is refused."""
    of_field: Any = item.model_fields[name].annotation
    kinds = [kind for kind in (get_args(of_field) or (of_field,)) if kind is not type(None)]
    if kinds[0] is bool:
        switch: Any = TrueOrFalse
        return switch | None
    if isinstance(kinds[0], type) and issubclass(kinds[0], Enum):
        several: Any = AnyOf
        return several[kinds[0]]
    return Annotated[str | None, _NAMED]


def _text(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _sorted(items: Sequence[Any], read: Callable[[Any], Any], backwards: bool) -> list[Any]:
    """By a field; items without it come last either way."""
    known = [item for item in items if read(item) is not None]
    known.sort(key=lambda item: _comparable(read(item)), reverse=backwards)
    return [*known, *(item for item in items if read(item) is None)]


def _comparable(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    return value.casefold() if isinstance(value, str) else value
