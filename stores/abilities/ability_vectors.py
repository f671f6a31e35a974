"""Sentence vectors of what abilities say of themselves: made once, when their words change, and kept."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import structlog
from sqlalchemy import delete, select
from sqlalchemy.exc import SQLAlchemyError

from contracts.abilities.availability import AbilityAvailabilityEntry
from domain.abilities.fit.goals import goals_of
from host.sentence_model import DIMENSIONS, MODEL, ModelUnavailable, SentenceModel, sentence_model
from stores.platform.database import Database, insert_or
from stores.platform.tables import ability_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from domain.abilities.fit.meaning import Meanings

MAX_NEW = 60
"""Of how many goals vectors are made for one lookup, about three seconds' work; the next lookup goes on."""

_WORKS = ""
"""The name under which the vectors of the plain works are kept; no ability's id is empty."""

_WORD = " "
"""Begins the names under which the vectors of single words are kept: abilities share them."""

_ROW = ability_vectors.c
_log = structlog.get_logger(__name__)


class Prepared(NamedTuple):
    """The meanings of some abilities."""

    meanings: "Meanings | None"
    """None where the model cannot be used: the rules decide alone."""
    complete: bool
    """Whether every ability's vectors are there."""


class AbilityVectors:
    """Keeps the vectors by goal of an ability, with a digest of the texts and the model they were made of."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()

    def of_installed(self, entries: Sequence[AbilityAvailabilityEntry]) -> Prepared:
        """The meanings of all installed abilities; what is new is kept, and what belongs to none goes."""
        return self._prepared(entries, keep=True)

    def of_draft(self, entries: Sequence[AbilityAvailabilityEntry]) -> "Meanings | None":
        """The meanings of ``entries``, among which are some that are not installed: nothing new is kept."""
        return self._prepared(entries, keep=False).meanings

    def _prepared(self, entries: Sequence[AbilityAvailabilityEntry], *, keep: bool) -> Prepared:
        try:
            model = sentence_model()
        except ModelUnavailable:
            return Prepared(None, complete=True)
        # Imported here: it needs numpy, which comes with the model.
        from domain.abilities.fit.meaning import WORKS_KEY, Meanings, plain_works, told_by

        told = {goal.ability_id: told_by(goal) for entry in entries for goal in goals_of(entry)}
        words = frozenset[str]().union(*(one.words for one in told.values()))
        digests = {one: _digest(said.texts) for one, said in told.items()} | {_WORKS: _digest((WORKS_KEY,))}
        digests |= {_WORD + word: _digest((word,)) for word in words}
        with self._lock:
            kept = self._kept(digests)
            new: dict[str, NDArray[np.float16]] = {}
            if _WORKS not in kept:
                made = {_WORKS: plain_works(model.vector).astype("float16")}
                # Seconds of work that belong to no ability: kept for drafts as well.
                self._keep(made, digests, tidy=False)
                kept |= made
            missing = [one for one in told if one not in kept]
            for one in missing[:MAX_NEW] if keep else missing:
                new[one] = _vectors(model, told[one].texts)
                for word in told[one].words:
                    if (name := _WORD + word) not in kept and name not in new:
                        new[name] = _vectors(model, (word,))
            if keep:
                self._keep(new, digests, tidy=True)
        known = {one: rows.astype("float32") for one, rows in (kept | new).items()}
        works = known.pop(_WORKS)
        said = {one: (told[one], rows) for one, rows in known.items() if one in told}
        alone = {word: known[_WORD + word][0] for word in words if _WORD + word in known}
        return Prepared(Meanings(model.vector, works, said, alone), complete=len(said) == len(told))

    def _kept(self, digests: Mapping[str, str]) -> "dict[str, NDArray[np.float16]]":
        import numpy as np

        with self._database.read() as connection:
            rows = connection.execute(select(_ROW.ability_id, _ROW.digest, _ROW.vectors)).all()
        return {
            name: np.frombuffer(vectors, dtype=np.float16).reshape(-1, DIMENSIONS)
            for name, digest, vectors in rows
            if digests.get(name) == digest
        }

    def _keep(
        self, new: "Mapping[str, NDArray[np.float16]]", digests: Mapping[str, str], *, tidy: bool
    ) -> None:
        """Keeps ``new``, and with ``tidy`` removes what belongs to no ability.

        A database that cannot now stops no lookup.
        """
        try:
            gone = self._names() - set(digests) if tidy else set[str]()
            if not new and not gone:
                return
            with self._database.write() as connection:
                if gone:
                    connection.execute(delete(ability_vectors).where(_ROW.ability_id.in_(gone)))
                for name, rows in new.items():
                    values = {"digest": digests[name], "vectors": rows.tobytes()}
                    added = insert_or(connection, ability_vectors).values(ability_id=name, **values)
                    connection.execute(
                        added.on_conflict_do_update(index_elements=["ability_id"], set_=values)
                    )
        except SQLAlchemyError as error:
            _log.warning("vectors_not_kept", error=type(error).__name__)

    def _names(self) -> set[str]:
        with self._database.read() as connection:
            return set(connection.scalars(select(_ROW.ability_id)))


def _vectors(model: SentenceModel, texts: Iterable[str]) -> "NDArray[np.float16]":
    import numpy as np

    return np.stack([model.vector(text) for text in texts]).astype(np.float16)


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((MODEL, *texts)).encode()).hexdigest()
