"""Short lists take the same parameters: page, order, text and filters; without a page all of it is answered."""

import inspect

import pytest
from pydantic import BaseModel
from uuid_utils import uuid7

from api.platform.lists import ListOf, ListRequest
from contracts.platform.lists import ListCounts
from tests.fixtures.stack import Stack


class Item(BaseModel):
    name: str
    size: int | None = None
    well: bool = True


class Items(ListCounts):
    items: tuple[Item, ...]


LIST = ListOf("items", Item, "name size well", filters="name well")
ALL = Items(items=(Item(name="b", size=2), Item(name="A", size=3, well=False), Item(name="c")))


def names(**wanted: object) -> list[str]:
    request = ListRequest(**wanted)  # type: ignore[arg-type]
    return [item.name for item in LIST.listed(ALL, request).items]


def test_without_a_page_the_whole_list_is_answered_in_its_own_order() -> None:
    answer = LIST.listed(ALL, ListRequest())
    assert answer.items == ALL.items
    assert (answer.total, answer.page, answer.page_size) == (3, 1, 3)


def test_an_empty_list_that_is_answered_whole_has_a_page_size_to_divide_by() -> None:
    for found in (ALL.changed(items=()), ALL):
        answer = LIST.listed(found, ListRequest(q="nothing like it"))
        assert (answer.items, answer.total, answer.page, answer.page_size) == ((), 0, 1, 1)


def test_a_page_says_how_many_there_are_on_all() -> None:
    answer = LIST.listed(ALL, ListRequest(page=2, page_size=2))
    assert [item.name for item in answer.items] == ["c"]
    assert (answer.total, answer.page, answer.page_size) == (3, 2, 2)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", ["A", "b", "c"]),
        ("-name", ["c", "b", "A"]),
        ("size", ["b", "A", "c"]),
        ("-size", ["A", "b", "c"]),
    ],
)
def test_what_has_no_such_value_comes_last_either_way(sort: str, order: list[str]) -> None:
    assert names(sort=sort) == order


def test_a_text_is_looked_for_in_every_field_and_a_filter_in_its_own() -> None:
    assert names(q="fals") == ["A"]
    assert names(among={"well": [True]}) == ["b", "c"]
    assert names(among={"name": ["A", "c"]}) == ["A", "c"]
    assert LIST.listed(ALL, ListRequest(among={"well": [True]}, page=1, page_size=1)).total == 2


def test_the_parameters_are_those_of_the_list() -> None:
    assert list(inspect.signature(LIST.wanted).parameters) == [
        "page",
        "page_size",
        "sort",
        "q",
        "name",
        "well",
    ]


@pytest.mark.anyio
async def test_a_filter_that_is_named_several_times_takes_any_of_its_values(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    await learner.create()
    await learner.act("cancel")
    await learner.create()
    for path, items in (("/api/learn/history", "items"), ("/api/learn/sessions", "sessions")):

        async def states(wanted: str, path: str = path, items: str = items) -> list[str]:
            return [one["state"] for one in (await learner.ok("GET", f"{path}?{wanted}"))[items]]

        assert await states("state=armed") == ["armed"]
        assert await states("state=armed&state=cancelled&state=rejected") == ["armed", "cancelled"]
        assert await states("state=rejected") == []
    assert (await learner.refused("GET", "/api/learn/history?state=armed&state=gone"))[0] == 422


@pytest.mark.anyio
async def test_every_short_list_answers_its_counts_and_refuses_an_unknown_order(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    headers = {"authorization": f"Bearer {learner.secret}"}
    for path in (
        "/api/tokens",
        "/api/categories",
        "/api/mcp/servers",
        "/api/mcp/auth-profiles",
        "/api/mcp/grants",
        "/api/mcp/ask-first/pending",
        "/api/abilities/catalog",
    ):
        answer = await shared.http.get(path, params={"page_size": 1, "sort": "-created_at"}, headers=headers)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["page"], answer.json()["page_size"]) == (1, 1)
        refused = await shared.http.get(path, params={"sort": "nothing"}, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "VALIDATION_FAILED")
