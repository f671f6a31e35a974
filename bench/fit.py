"""Fits the weights of ``domain.abilities.fit.weighing`` and says how well requests are told apart.

``python -m bench.fit`` reads the tables of ``tests/domain/abilities/fit``, fits the weights (signs held, near misses
and requests for other abilities against requests that must find theirs) and prints them with what they reach on tasks
that they were not fitted to, by turns. The thirty lessons are measured by ``bench.lessons`` alone.
"""

import random
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.abilities.fit import fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings, plain_works, said_by
from domain.abilities.fit.reading import read
from domain.abilities.fit.weighing import Evidence
from host.sentence_model import sentence_model
from tests.domain.abilities.fit.tables import TABLES, Row, rows_of

AGAINST = frozenset({"far", "other", "plainly", "opposite", "unclear", "part", "verb"})
FOR = frozenset({"ruled", "said", "work", "title"})
"""Evidence whose weight may have one sign only."""

RIDGE = 2.0
OTHERS = 5
"""Requests for other abilities, to each ability; each counts half."""
TURNS = 10
OBJECTS = (
    "the train tickets", "the garden furniture", "the birthday guests", "the chess clubs", "the kitchen shelves",
    "the school books", "my bicycle", "the old sofa", "the piano lessons", "the dentist's letter",
)  # fmt: skip
"""Of another world: the verb alone must find nothing."""

Floats: TypeAlias = NDArray[np.float64]


class _Capture:
    """Asks the judge of one table for its evidence instead of a judgement."""

    def __init__(self, table: Sequence[Row]) -> None:
        vector = sentence_model().vector
        said = {row.entry.ability_id: said_by(row.entry) for row in table}
        known = {one: (texts, np.stack([vector(t) for t in texts])) for one, texts in said.items()}
        self._meanings = Meanings(vector, plain_works(vector), known)
        self._index = FitIndex(row.entry for row in table)
        self._profiles = {row.entry.ability_id: fit.Profile.of(row.entry) for row in table}

    def evidence(self, row: Row, said: str) -> tuple[float, ...]:
        request, profile = read(said), self._profiles[row.entry.ability_id]
        ruled = self._index.judged(said, row.entry.ability_id, caller_user_id="ada")
        clause = fit.main_clause(request)
        near = self._meanings.nearness(
            request.text,
            row.entry.ability_id,
            profile.families | profile.parts,
            clause.families if clause else frozenset(),
        )
        assert ruled is not None
        assert near is not None
        return astuple(
            fit.evidence(request, profile, lambda word: self._index.weight("ada", word), ruled, near)
        )


def main() -> None:
    """Prints the weights and what they reach."""
    found: list[tuple[float, ...]] = []
    marks: list[tuple[str, int, int]] = []
    for name, path in TABLES.items():
        table, chance = rows_of(path), random.Random(3)
        capture = _Capture(table)
        for number, row in enumerate(table):
            others = [one for one in chance.sample(range(len(table)), OTHERS) if one != number]
            strange = [chance.choice(table[one].finds) for one in others if table[one].finds]
            strange += [f"{row.entry.title.split()[0]} {one}" for one in chance.sample(OBJECTS, 2)]
            for kind, requests in ((1, row.finds), (0, row.misses), (-1, strange)):
                found += [capture.evidence(row, said) for said in requests]
                marks += [(name, number, kind)] * len(requests)
    values = np.array(found)
    kinds = np.array([kind for _, _, kind in marks])
    turns = np.array([number % TURNS for _, number, _ in marks])
    tables = np.array([name for name, _, _ in marks])
    wanted, weights = (kinds == 1).astype(float), np.where(kinds == -1, 0.5, 1.0)
    allowed = _with_allowed_signs(values, wanted, weights)
    total = np.zeros(len(wanted))
    for turn in range(TURNS):
        rest = turns != turn
        total[~rest] = _totals(values[~rest], *_fitted(values[rest], wanted[rest], weights[rest], allowed))
    bias, fitted = _fitted(values, wanted, weights, allowed)
    for field, weight in zip(fields(Evidence), fitted, strict=True):
        print(f"{field.name}={weight:.2f},")
    print(f"BIAS = {bias:.2f}")
    for name in TABLES:
        here = tables == name
        for cut in (-1.0, -0.5, 0.0, 0.5):
            share = [float((total[here & (kinds == kind)] >= cut).mean()) for kind in (1, 0, -1)]
            refused = f"near misses refused {1 - share[1]:.3f}, requests for others {1 - share[2]:.3f}"
            print(f"{name} from {cut:+.1f}: found {share[0]:.3f}, {refused}")


def _with_allowed_signs(values: Floats, wanted: Floats, weights: Floats) -> NDArray[np.bool_]:
    """Which evidence has the sign that it may have; what has not is left out, the worst first."""
    names = [field.name for field in fields(Evidence)]
    allowed = np.ones(len(names), dtype=bool)
    while True:
        _, fitted = _fitted(values, wanted, weights, allowed)
        strength = fitted * values.std(axis=0)
        wrong = [
            (abs(strength[i]), i)
            for i, name in enumerate(names)
            if (name in AGAINST and fitted[i] > 1e-9) or (name in FOR and fitted[i] < -1e-9)
        ]
        if not wrong:
            return allowed
        allowed[max(wrong)[1]] = False


def _fitted(
    values: Floats, wanted: Floats, weights: Floats, allowed: NDArray[np.bool_]
) -> tuple[float, Floats]:
    """The logistic regression with a ridge over evidence of equal spread: the bias and a weight each."""
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled = np.where(allowed, (values - middle) / spread, 0.0)
    rows = np.column_stack([np.ones(len(values)), scaled])
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 0.0
    found = np.zeros(rows.shape[1])
    for _ in range(60):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weights * (likely - wanted)) + ridge @ found
        found -= np.linalg.solve((rows * (weights * likely * (1 - likely))[:, None]).T @ rows + ridge, slope)
    weight = found[1:] / spread
    return float(found[0] - (weight * middle).sum()), weight


def _totals(values: Floats, bias: float, weight: Floats) -> Floats:
    return np.asarray(bias + values @ weight)


if __name__ == "__main__":
    main()
