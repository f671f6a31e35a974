"""Fits the trees of ``domain.abilities.fit.weighing`` and says how well requests are told apart.

``python -m bench.fit`` reads the tables of ``tests/domain/abilities/fit``, fits the trees (near misses and requests for
other abilities against requests that must find theirs) and prints what they reach on tasks that they were not fitted
to, by turns, and on a table that they are never fitted to; ``--write`` keeps them in ``weighing_trees``. The thirty
lessons are measured by ``bench.lessons`` alone.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.abilities.fit import weighing_trees
from domain.abilities.fit.evidence import evidence
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings, plain_works, told_by
from domain.abilities.fit.reading import read
from domain.abilities.fit.ruling import Profile, ruled, wanted_by
from domain.abilities.fit.weighing import Evidence
from domain.abilities.fit.words import Word
from host.sentence_model import sentence_model
from tests.domain.abilities.fit.tables import HELD_OUT, TABLES, Row, rows_of

DEPTH = 3
"""How many questions a tree asks, the same of every case."""

NUMBER = 500
STEP = 0.06
"""How far one tree goes."""

RIDGE = 1.0
BOUNDS = 48
"""Among how many bounds of an evidence a question chooses."""

ROWS, COLUMNS = 0.6, 0.4
"""The shares of cases and of kinds of evidence that one tree sees, by chance."""

OTHERS = 5
"""Requests for other abilities, to each ability; each counts ``OF_OTHERS``."""

OF_OTHERS = 0.3
TURNS = 10
CUTS = (-0.4, -0.2, 0.0, 0.2, 0.4)
OBJECTS = (
    "the train tickets", "the garden furniture", "the birthday guests", "the chess clubs", "the kitchen shelves",
    "the school books", "my bicycle", "the old sofa", "the piano lessons", "the dentist's letter",
)  # fmt: skip
"""Of another world: the verb alone must find nothing."""

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]


class _Capture:
    """Asks the judge of one table for its evidence instead of a judgement."""

    def __init__(self, table: Sequence[Row]) -> None:
        vector = sentence_model().vector
        told = {row.entry.ability_id: told_by(row.entry) for row in table}
        known = {one: (said, np.stack([vector(t) for t in said.texts])) for one, said in told.items()}
        self._meanings = Meanings(vector, plain_works(vector), known)
        self._index = FitIndex(row.entry for row in table)
        self._profiles = {row.entry.ability_id: Profile.of(row.entry) for row in table}

    def evidence(self, row: Row, said: str) -> tuple[float, ...]:
        request, profile = read(said), self._profiles[row.entry.ability_id]
        wanted = wanted_by(request)
        near = self._meanings.nearness(
            request, row.entry.ability_id, profile.families | profile.parts, wanted
        )
        assert near is not None
        found = ruled(request, profile, self._weigh)
        return astuple(evidence(request, profile, self._weigh, found, near))

    def _weigh(self, word: Word) -> float:
        return self._index.weight("ada", word)


@dataclass(frozen=True)
class _Trees:
    bias: float
    questions: Sequence[Sequence[tuple[int, float]]]
    leaves: Sequence[Floats]

    def totals(self, values: Floats) -> Floats:
        found = np.full(len(values), self.bias)
        for asked, leaves in zip(self.questions, self.leaves, strict=True):
            leaf = np.zeros(len(values), dtype=np.intp)
            for place, bound in asked:
                leaf = leaf * 2 + (values[:, place] > bound)
            found += leaves[leaf]
        return found


def main() -> None:
    """Prints what the trees reach, and writes them where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help="Keep the trees.")
    write = parser.parse_args().write
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
    wanted, weights = (kinds == 1).astype(float), np.where(kinds == -1, OF_OTHERS, 1.0)
    total = np.zeros(len(wanted))
    for turn in range(TURNS):
        rest = turns != turn
        total[~rest] = _fitted(values[rest], wanted[rest], weights[rest]).totals(values[~rest])
    for name in TABLES:
        here = tables == name
        for cut in CUTS:
            share = [float((total[here & (kinds == kind)] >= cut).mean()) for kind in (1, 0, -1)]
            refused = f"near misses refused {1 - share[1]:.3f}, requests for others {1 - share[2]:.3f}"
            print(f"{name} from {cut:+.1f}: found {share[0]:.3f}, {refused}")
    trees = _fitted(values, wanted, weights)
    for name, path in HELD_OUT.items():
        table = rows_of(path)
        capture = _Capture(table)
        finds = trees.totals(np.array([capture.evidence(row, said) for row in table for said in row.finds]))
        misses = trees.totals(np.array([capture.evidence(row, said) for row in table for said in row.misses]))
        for cut in CUTS:
            refused = f"near misses refused {(misses < cut).mean():.3f}"
            print(f"{name} from {cut:+.1f}: found {(finds >= cut).mean():.3f}, {refused}")
    if write:
        _write(trees)


def _fitted(values: Floats, wanted: Floats, weights: Floats) -> _Trees:
    """Trees of one question a level, each fitted to what those before leave (logistic loss, second order)."""
    chance = np.random.default_rng(0)
    count, kinds = len(values), int(values.shape[1])
    edges = [_bounds(column) for column in values.T]
    places: list[Numbers] = [np.searchsorted(edges[kind], values[:, kind]) for kind in range(kinds)]
    place: Numbers = np.stack(places, axis=1)
    bias = float(np.log((weights * wanted).sum() / (weights * (1 - wanted)).sum()))
    total = np.full(count, bias)
    questions: list[list[tuple[int, float]]] = []
    leaves: list[Floats] = []
    for _ in range(NUMBER):
        likely = 1 / (1 + np.exp(-total))
        slope, bend = weights * (likely - wanted), weights * likely * (1 - likely)
        drawn: Floats = chance.random(count)
        seen = drawn < ROWS
        columns = np.sort(chance.choice(kinds, int(kinds * COLUMNS), replace=False))
        leaf = np.zeros(count, dtype=np.intp)
        asked: list[tuple[int, float]] = []
        for _ in range(DEPTH):
            column, bound = _question(
                leaf[seen], place[seen][:, columns], slope[seen], bend[seen], edges, columns
            )
            asked.append((column, float(edges[column][bound])))
            leaf = leaf * 2 + (place[:, column] > bound)
        size = 1 << DEPTH
        slopes = np.bincount(leaf[seen], slope[seen], size)
        added = np.round(-STEP * slopes / (np.bincount(leaf[seen], bend[seen], size) + RIDGE), 3)
        total += added[leaf]
        questions.append(asked)
        leaves.append(added)
    return _Trees(bias, questions, leaves)


def _bounds(column: Floats) -> Floats:
    """Bounds that part the values in equal shares, to three digits behind the point."""
    return np.unique(np.round(np.quantile(column, np.linspace(0, 1, BOUNDS + 1)[1:-1]), 3))


def _question(
    leaf: Numbers, place: Numbers, slope: Floats, bend: Floats, edges: Sequence[Floats], columns: Numbers
) -> tuple[int, int]:
    """The kind of evidence and the number of its bound that part all leaves best."""
    size = int(leaf.max()) + 1
    cells = ((leaf[:, None] * len(columns) + np.arange(len(columns))) * BOUNDS + place).ravel()
    shape = (size, len(columns), BOUNDS)
    slopes = np.bincount(cells, np.repeat(slope, len(columns)), np.prod(shape)).reshape(shape).cumsum(2)
    bends = np.bincount(cells, np.repeat(bend, len(columns)), np.prod(shape)).reshape(shape).cumsum(2)
    rest, unbent = slopes[..., -1:] - slopes, bends[..., -1:] - bends
    gain = (slopes**2 / (bends + RIDGE) + rest**2 / (unbent + RIDGE)).sum(0)
    kinds: list[int] = columns.tolist()
    for number, kind in enumerate(kinds):
        gain[number, len(edges[kind]) :] = -1.0
    best = int(gain.argmax())
    return int(columns[best // BOUNDS]), best % BOUNDS


def _write(trees: _Trees) -> None:
    lines = [
        " ".join(
            (*(f"{place}>{bound:g}" for place, bound in asked), *(f"{leaf * 1000:.0f}" for leaf in leaves))
        )
        for asked, leaves in zip(trees.questions, trees.leaves, strict=True)
    ]
    pairs = ["; ".join(lines[one : one + 2]) for one in range(0, len(lines), 2)]
    names = ", ".join(field.name for field in fields(Evidence))
    Path(str(weighing_trees.__file__)).write_text(
        f'"""The trees of ``weighing``, written by ``python -m bench.fit --write``: do not edit by hand."""\n\n'
        f"BIAS = {trees.bias:.4f}\n\n"
        'TREES = """\n' + "\n".join(pairs) + '\n"""\n'
        '"""Two trees a line, each: an evidence and its bound, three times, then the leaves in thousandths."""\n',
        encoding="utf-8",
    )
    print(f"written, over {names}")


if __name__ == "__main__":
    main()
