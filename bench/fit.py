"""Fits the trees of ``domain.abilities.fit.weighing`` and says how well requests are told apart.

``python -m bench.fit`` reads the tables of ``tests/domain/abilities/fit``, fits the trees (near misses and requests for
other abilities against requests that must find theirs) and prints what they reach on tasks that they were not fitted
to, by turns, and on a table that they are never fitted to, alone and together with the model that reads request and
goal at once (``host.pair_model``, trained on none of these); ``--write`` keeps those of one kind, in
``weighing_trees.txt`` (alone) or ``together_trees.txt``. The thirty lessons are measured by ``bench.lessons`` alone.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.pair_training import area
from bench.restated import said_again
from domain.abilities.fit.evidence import evidence
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings, plain_works, told_by
from domain.abilities.fit.reading import read
from domain.abilities.fit.ruling import Profile, ruled, wanted_by
from domain.abilities.fit.together import reading_of
from domain.abilities.fit.weighing import ALONE, TOGETHER, Together
from domain.abilities.fit.words import Word
from host.pair_model import pair_model
from host.sentence_model import sentence_model
from tests.domain.abilities.fit.tables import HELD_OUT, TABLES, Row, goals_of, rows_of

DEPTH = 3
"""How many questions a tree asks, the same of every case."""

FORESTS = 8
"""How many times the trees of what was read are fitted to what chance shows them: their mean has the last word, and
moves less by chance."""

NUMBER = 300
"""How many trees of one time add up."""

STEP = 0.1
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

    @staticmethod
    def read(row: Row, said: str) -> Together:
        """What a model finds that reads the request with the ability."""
        return reading_of(said, row.entry, pair_model().log_odds)

    def evidence(self, row: Row, said: str) -> tuple[float, ...]:
        """What is known of the request and the ability."""
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


@dataclass(frozen=True)
class _Cases:
    """Requests with abilities: what is known of each, where it comes from, and what is expected."""

    values: Floats
    read: Floats
    """What the model finds that reads both together."""
    kinds: Numbers
    """1 for what must find the ability, 0 for a near miss, -1 for a request for another."""
    numbers: Numbers
    tables: NDArray[np.str_]

    def known(self, *, together: bool) -> Floats:
        """What the trees are asked about: the evidence, and what was read together where they are for that."""
        return np.column_stack((self.values, self.read)) if together else self.values

    @property
    def wanted(self) -> Floats:
        return (self.kinds == 1).astype(float)

    @property
    def weights(self) -> Floats:
        """What each counts: together as much from every table, however long that is."""
        plain = np.where(self.kinds == -1, OF_OTHERS, 1.0)
        tables, place = np.unique(self.tables, return_inverse=True)
        return plain * plain.mean() * len(plain) / len(tables) / np.bincount(place, plain)[place]


def cases_of(tables: Mapping[str, Path]) -> _Cases:
    """All cases of some tables."""
    values: list[tuple[float, ...]] = []
    read: list[Together] = []
    marks: list[tuple[str, int, int]] = []
    for name, path in tables.items():
        table, chance = rows_of(path), random.Random(3)
        again = said_again(goals_of(path), random.Random(4))
        capture = _Capture(table)
        for number, row in enumerate(table):
            others = [one for one in chance.sample(range(len(table)), OTHERS) if one != number]
            strange = [chance.choice(table[one].finds) for one in others if table[one].finds]
            strange += [f"{row.entry.title.split()[0]} {one}" for one in chance.sample(OBJECTS, 2)]
            own, others_own = again[number]
            for kind, requests in ((1, (*row.finds, own)), (0, (*row.misses, *others_own)), (-1, strange)):
                values += [capture.evidence(row, said) for said in requests]
                read += [capture.read(row, said) for said in requests]
                marks += [(name, number, kind)] * len(requests)
    return _Cases(
        np.array(values),
        np.array(read),
        np.array([kind for *_, kind in marks]),
        np.array([number for _, number, _ in marks]),
        np.array([name for name, *_ in marks]),
    )


def main() -> None:
    """Prints what the trees reach, alone and with what is read together; writes them where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.fit", description=__doc__)
    parser.add_argument("--write", choices=("alone", "together"), help="Keep the trees of this kind.")
    write = parser.parse_args().write
    cases, others = cases_of(TABLES), cases_of(HELD_OUT)
    for file, together in ((ALONE, False), (TOGETHER, True)):
        told = "together" if together else "alone"
        known = cases.known(together=together)
        total = _by_turns(cases, known)
        for name in TABLES:
            here = cases.tables == name
            _print_shares(f"{name} {told}", total[here], cases.kinds[here])
        trees = _fitted(known, cases.wanted, cases.weights, FORESTS if together else 1)
        held_out = trees.totals(others.known(together=together))
        for name in HELD_OUT:
            here = others.tables == name
            _print_shares(f"{name} {told}", held_out[here], others.kinds[here])
        if write == told:
            _write(trees, told, file)


def _by_turns(cases: _Cases, known: Floats) -> Floats:
    """What a forest that was fitted to all other tasks makes of each."""
    turns, total = cases.numbers % TURNS, np.zeros(len(known))
    for turn in range(TURNS):
        rest, chance = turns != turn, np.random.default_rng(turn)
        forest = _forest(known[rest], cases.wanted[rest], cases.weights[rest], chance)
        total[~rest] = forest.totals(known[~rest])
    return total


def _print_shares(name: str, total: Floats, kinds: Numbers) -> None:
    apart = area(total[kinds != -1], kinds[kinds != -1] == 1)
    for cut in CUTS:
        share = [float((total[kinds == kind] >= cut).mean()) for kind in (1, 0, -1)]
        refused = f"near misses refused {1 - share[1]:.3f}, requests for others {1 - share[2]:.3f}"
        print(f"{name} ({apart:.3f}) from {cut:+.1f}: found {share[0]:.3f}, {refused}")


def _fitted(values: Floats, wanted: Floats, weights: Floats, count: int) -> _Trees:
    """The mean of so many forests, as trees that add up to it."""
    forests = [_forest(values, wanted, weights, np.random.default_rng(number)) for number in range(count)]
    return _Trees(
        forests[0].bias,
        [asked for forest in forests for asked in forest.questions],
        [np.round(added / count, 4) for forest in forests for added in forest.leaves],
    )


def _forest(values: Floats, wanted: Floats, weights: Floats, chance: np.random.Generator) -> _Trees:
    """Trees of one question a level, each fitted to what those before leave (logistic loss, second order)."""
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
        added = -STEP * slopes / (np.bincount(leaf[seen], bend[seen], size) + RIDGE)
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


def _write(trees: _Trees, kind: str, file: Path) -> None:
    """The trees in the form that ``domain.abilities.fit.weighing`` reads."""
    lines = [
        " ".join(
            (*(f"{place}>{bound:g}" for place, bound in asked), *(f"{leaf * 10_000:.0f}" for leaf in leaves))
        )
        for asked, leaves in zip(trees.questions, trees.leaves, strict=True)
    ]
    head = f"# Written by `python -m bench.fit --write {kind}`, not by hand.\n{trees.bias:.4f}\n"
    file.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
