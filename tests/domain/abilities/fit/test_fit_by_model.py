"""What the models add, over tables of abilities and requests."""

import numpy as np
import pytest

from contracts.abilities.lookup import AbilityLookupQuery, Fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings, Rows, plain_works, told_by
from host.pair_model import pair_model
from host.sentence_model import sentence_model
from tests.domain.abilities.fit.tables import HELD_OUT, TABLES, Row, rows_of

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def works() -> Rows:
    return plain_works(sentence_model().vector)


def shares(table: list[Row], index: FitIndex) -> tuple[float, float]:
    """Of the requests that fit what they ask for, and of the near misses that do not."""
    found: list[bool] = []
    refused: list[bool] = []
    for row in table:
        mine = row.entry.ability_id
        for said in row.finds:
            fitting = index.fitting(AbilityLookupQuery(user_query=said), caller_user_id="ada")
            found.append(mine in {one.ability_id for one in fitting})
        for said in row.misses:
            judged = index.judged(said, mine, caller_user_id="ada")
            refused.append(judged is not None and judged.fit is Fit.NO)
    return sum(found) / len(found), sum(refused) / len(refused)


# The trees are fitted to these tables but the last: what they reach on tasks that they have not seen,
# `python -m bench.fit` prints. Together: with the model that reads request and goal at once.
@pytest.mark.parametrize(
    ("name", "together", "found", "refused"),
    [
        ("tasks", False, 0.86, 0.94),
        ("methods", False, 0.84, 0.96),
        ("siblings", False, 0.66, 0.83),
        ("requests", True, 0.97, 0.95),
        ("tasks", True, 0.97, 0.95),
        ("methods", True, 0.93, 0.95),
        ("siblings", True, 0.88, 0.85),
    ],
)
@pytest.mark.timeout(180)
def test_requests_in_other_words_are_found_and_near_misses_refused(
    name: str, together: bool, found: float, refused: float, works: Rows
) -> None:
    table, vector = rows_of((TABLES | HELD_OUT)[name]), sentence_model().vector
    told = {row.entry.ability_id: told_by(row.entry) for row in table}
    known = {one: (said, np.stack([vector(text) for text in said.texts])) for one, said in told.items()}
    read = pair_model().log_odds if together else None
    index = FitIndex((row.entry for row in table), Meanings(vector, works, known, together=read))
    reached = shares(table, index)
    assert reached[0] >= found, reached
    assert reached[1] >= refused, reached
