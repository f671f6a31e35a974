"""Sentence vectors of what abilities say of themselves: made once, when their words change, and kept."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy import delete, select
from sqlalchemy.exc import SQLAlchemyError

from contracts.abilities.availability import AbilityAvailabilityEntry
from domain.abilities.fit.goals import ability_of, goals_of
from host.pair_model import read_together
from host.sentence_model import DIMENSIONS, MODEL, ModelUnavailable, SentenceModel, sentence_model
from stores.platform.database import Database, batches, insert_or
from stores.platform.tables import ability_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from domain.abilities.fit.meaning import Meanings, Told

MAX_NEW = 60
"""Of how many goals vectors are made at once for one change, about three seconds' work; more are made in batches."""

MAX_BATCH = 8
"""Of how many goals vectors are made in a batch, about half a second's work."""

_WORKS = ""
"""The name under which the vectors of the plain works are kept; no ability's id is empty."""

_WORD = " "
"""Begins the names under which the vectors of single words are kept: abilities share them."""

_ROW = ability_vectors.c
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The meanings of some abilities."""

    meanings: "Meanings | None" = None
    """None where the model cannot be used: the rules decide alone."""
    told: "Mapping[str, Told]" = field(default_factory=dict["str", "Told"])
    """What each goal tells."""
    missing: frozenset[str] = frozenset()
    """The goals whose vectors are not made yet."""

    @property
    def complete(self) -> bool:
        """Whether every ability's vectors are there."""
        return not self.missing


class AbilityVectors:
    """Keeps the vectors by goal of an ability, with a digest of the texts and the model they were made of.

    A database that cannot keep them now stops no lookup.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_installed(self, entries: Sequence[AbilityAvailabilityEntry]) -> Prepared:
        """The meanings of all installed abilities; what is new is kept, and what belongs to none goes."""
        prepared = self.changed(Prepared(), entries)
        if prepared.meanings is not None:
            words = frozenset[str]().union(*(one.words for one in prepared.told.values()))
            self._forget(lambda: self._names() - {_WORKS, *prepared.told, *(_WORD + word for word in words)})
        return prepared

    def changed(
        self, before: Prepared, entries: Sequence[AbilityAvailabilityEntry], gone: Iterable[str] = ()
    ) -> Prepared:
        """The meanings with ``entries`` new or as they are now and without ``gone``: only those are looked at.

        Of at most ``MAX_NEW`` goals vectors are made and kept.
        """
        try:
            model = sentence_model()
        except ModelUnavailable:
            return Prepared()
        new, left, old = _now_told(before, entries, gone)
        kept = self._kept(_digests(new))
        missing = [one for one in new if one not in kept]
        made = self._make(model, {one: new[one] for one in missing[:MAX_NEW]}, kept)
        self._forget(lambda: _unused(old, new, left))
        prepared = Prepared(self._start(before, model), left, before.missing & left.keys())
        return _with(prepared, new, kept | made)

    def more(self, prepared: Prepared) -> "Mapping[str, Any]":
        """Makes and keeps vectors of at most ``MAX_BATCH`` goals that lack them; ``completed`` takes them in."""
        some = {one: prepared.told[one] for one in sorted(prepared.missing)[:MAX_BATCH]}
        return self._make(sentence_model(), some, self._kept(_digests(some))) if some else {}

    def completed(self, before: Prepared, now: Prepared, made: "Mapping[str, Any]") -> Prepared:
        """``now`` with the vectors that were made of what ``before`` told, where that is told still."""
        same = {
            one: told for one in now.missing if one in made and before.told[one] == (told := now.told[one])
        }
        return _with(now, same, made)

    def of_draft(
        self, beside: Prepared, entries: Sequence[AbilityAvailabilityEntry], without: Iterable[str] = ()
    ) -> "Meanings | None":
        """The meanings with ``entries``, which are not installed: nothing new is kept."""
        try:
            model = sentence_model()
        except ModelUnavailable:
            return None
        new, left, _ = _now_told(beside, entries, without)
        made = {one: _vectors(model, told.texts) for one, told in new.items()}
        return _with(Prepared(self._start(beside, model), left), new, made).meanings

    def _start(self, before: Prepared, model: SentenceModel) -> "Meanings":
        """The meanings from before; where there are none, those of no ability."""
        if before.meanings is not None:
            return before.meanings
        # Imported here: it needs numpy, which comes with the model.
        from domain.abilities.fit.meaning import WORKS_KEY, Meanings, plain_works

        digests = {_WORKS: _digest((WORKS_KEY,))}
        kept = self._kept(digests)
        if _WORKS not in kept:
            # Seconds of work that belong to no ability: kept for drafts as well.
            kept = {_WORKS: plain_works(model.vector).astype("float16")}
            self._keep(kept, digests)
        return Meanings(model.vector, kept[_WORKS].astype("float32"), {}, together=read_together())

    def _make(
        self, model: SentenceModel, told: "Mapping[str, Told]", kept: "Mapping[str, Any]"
    ) -> "dict[str, NDArray[np.float16]]":
        made: dict[str, NDArray[np.float16]] = {}
        for one, said in told.items():
            made[one] = _vectors(model, said.texts)
            for word in said.words:
                if (name := _WORD + word) not in kept and name not in made:
                    made[name] = _vectors(model, (word,))
        self._keep(made, _digests(told))
        return made

    def _kept(self, digests: Mapping[str, str]) -> "dict[str, NDArray[np.float16]]":
        import numpy as np

        query = select(_ROW.ability_id, _ROW.digest, _ROW.vectors)
        with self._database.read() as connection:
            return {
                name: np.frombuffer(vectors, dtype=np.float16).reshape(-1, DIMENSIONS)
                for some in batches(sorted(digests))
                for name, digest, vectors in connection.execute(query.where(_ROW.ability_id.in_(some)))
                if digests[name] == digest
            }

    def _keep(self, new: "Mapping[str, NDArray[np.float16]]", digests: Mapping[str, str]) -> None:
        if not new:
            return
        try:
            with self._database.write() as connection:
                for name, rows in new.items():
                    values = {"digest": digests[name], "vectors": rows.tobytes()}
                    added = insert_or(connection, ability_vectors).values(ability_id=name, **values)
                    connection.execute(
                        added.on_conflict_do_update(index_elements=["ability_id"], set_=values)
                    )
        except SQLAlchemyError as error:
            _log.warning("vectors_not_kept", error=type(error).__name__)

    def _forget(self, names: Callable[[], AbstractSet[str]]) -> None:
        try:
            if not (gone := names()):
                return
            with self._database.write() as connection:
                for some in batches(sorted(gone)):
                    connection.execute(delete(ability_vectors).where(_ROW.ability_id.in_(some)))
        except SQLAlchemyError as error:
            _log.warning("vectors_not_removed", error=type(error).__name__)

    def _names(self) -> set[str]:
        with self._database.read() as connection:
            return set(connection.scalars(select(_ROW.ability_id)))


def _now_told(
    before: Prepared, entries: Iterable[AbilityAvailabilityEntry], gone: Iterable[str]
) -> "tuple[dict[str, Told], dict[str, Told], dict[str, Told]]":
    """What is told anew, what is told as before, and what is told no longer."""
    from domain.abilities.fit.meaning import told_by

    goals = {entry.ability_id: goals_of(entry) for entry in entries}
    said = {goal.ability_id: told_by(goal) for some in goals.values() for goal in some}
    leaving = {*gone, *goals}
    left = {one: told for one, told in before.told.items() if ability_of(one) not in leaving}
    old = {one: told for one, told in before.told.items() if one not in left}
    same = {one: told for one, told in old.items() if said.get(one) == told and one not in before.missing}
    # An ability whose words are as they were needs nothing.
    new = {one: told for one, told in said.items() if one not in same}
    return new, left | same, {one: told for one, told in old.items() if one not in same}


def _with(prepared: Prepared, new: "Mapping[str, Told]", known: "Mapping[str, Any]") -> Prepared:
    """``prepared``, whose ``told`` are those that stay, with what ``new`` tells, as far as its vectors are known."""
    meanings = prepared.meanings
    assert meanings is not None
    here = {one: (told, known[one]) for one, told in new.items() if one in known}
    names = {word: _WORD + word for told in new.values() for word in told.words}
    words = {word: known[name][0].astype("float32") for word, name in names.items() if name in known}
    told = {**prepared.told, **new}
    return Prepared(
        meanings.changed(here, meanings.ids - prepared.told.keys(), words),
        told,
        (prepared.missing | new.keys()) - here.keys(),
    )


def _unused(old: "Mapping[str, Told]", new: "Mapping[str, Told]", left: "Mapping[str, Told]") -> set[str]:
    """The names of kept vectors that nothing needs any more."""
    words = frozenset[str]().union(*(told.words for told in old.values()))
    if words:
        words -= frozenset[str]().union(*(told.words for some in (new, left) for told in some.values()))
    return {*(one for one in old if one not in new), *(_WORD + word for word in words)}


def _digests(told: "Mapping[str, Told]") -> dict[str, str]:
    words = frozenset[str]().union(*(said.words for said in told.values()))
    goals = {one: _digest(said.texts) for one, said in told.items()}
    return goals | {_WORD + word: _digest((word,)) for word in words}


def _vectors(model: SentenceModel, texts: Iterable[str]) -> "NDArray[np.float16]":
    import numpy as np

    return np.stack([model.vector(text) for text in texts]).astype(np.float16)


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((MODEL, *texts)).encode()).hexdigest()
