"""Witness of symbolic links: where each one leads to, as it is written; none is followed."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFolder, LimitReached
from host.witness.fact import FactMaker

fact = FactMaker("links")

MAX_LINKS = 2_000
"""Links of one folder."""


class LinkWitness:
    """The target of every link in a folder, by its path."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of the links of ``folder``.

        Raises:
            LimitReached: there are too many; what was given until then stands.
        """
        links = [entry for entry in folder.entries if entry.kind == "link"]
        for entry in links[:MAX_LINKS]:
            yield fact(entry.shown, "target", str(PurePosixPath(entry.link_target)))
        if len(links) > MAX_LINKS:
            raise LimitReached("too many links")
