"""Witness of files: kind, size, digest, permissions, link target; of text its lines, of delimited text its columns."""

import codecs
import csv
import hashlib
import io
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFile, BoundedFolder, Entry
from host.witness.fact import FactMaker

fact = FactMaker("files")

_DELIMITED = (".csv", ".tsv", ".tab", ".psv")
_DELIMITERS = ",;\t|"
_MAX_DELIMITED_BYTES = 16 * 1024 * 1024
"""The largest delimited file whose rows are counted."""

_NUMBER = re.compile(r"[-+]?[\d.,]*\d%?")
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


class FileWitness:
    """Facts of every file, folder and link, by path."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of ``folder``; contents up to ``Limits.file_bytes`` are read.

        Raises:
            LimitReached: the budget is spent; what was given until then stands.
        """
        for entry in folder.entries:
            yield from _of_entry(entry)
            if entry.kind == "file" and entry.status.st_size <= folder.limits.file_bytes:
                yield from _of_content(folder, entry)


def _of_entry(entry: Entry) -> Iterator[StateFact]:
    path, mode = entry.shown, stat.S_IMODE(entry.status.st_mode)
    yield fact(path, "kind", entry.kind)
    if entry.kind == "link":
        yield fact(path, "target", entry.link_target)
    else:
        yield fact(path, "permissions", f"{mode:03o}")
    if entry.kind == "file":
        yield fact(path, "size", entry.status.st_size)
        if mode & 0o100:
            yield fact(path, "executable", True)


def _of_content(folder: BoundedFolder, entry: Entry) -> Iterator[StateFact]:
    path = entry.shown
    try:
        with folder.open(entry.path) as file:
            scan = _scanned(file)
            yield fact(path, "sha256", scan.digest)
            if scan.size == 0:
                return
            yield fact(path, "content", "binary" if scan.is_binary else "text")
            if scan.is_binary:
                return
            yield fact(path, "lines", scan.lines)
            yield fact(path, "encoding", scan.encoding)
            if scan.dos_ends and scan.dos_ends == scan.ends:
                yield fact(path, "line ends", "CRLF")
            if entry.name.lower().endswith(_DELIMITED) and scan.size <= _MAX_DELIMITED_BYTES:
                yield from _of_table(path, file.read_at(0, scan.size), folder)
    except OSError:
        yield fact(path, "content", "not readable")


@dataclass
class _Scan:
    """What one pass over a file counts."""

    size: int = 0
    ends: int = 0
    dos_ends: int = 0
    is_binary: bool = False
    encoding: str = "ASCII"
    last: bytes = b""
    digest: str = ""
    decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    @property
    def lines(self) -> int:
        """Lines, one without an end at the end of the file included."""
        return self.ends + (self.size > 0 and self.last != b"\n")

    def add(self, piece: bytes, *, final: bool = False) -> None:
        self.is_binary = self.is_binary or _BINARY.search(piece) is not None
        self.ends += piece.count(b"\n")
        self.dos_ends += piece.count(b"\r\n") + (self.last == b"\r" and piece.startswith(b"\n"))
        self.size += len(piece)
        self.last = piece[-1:] or self.last
        if self.encoding != "other":
            try:
                self.decoder.decode(piece, final)
            except UnicodeDecodeError:
                self.encoding = "other"
            else:
                self.encoding = self.encoding if piece.isascii() else "UTF-8"


def _scanned(file: BoundedFile) -> _Scan:
    scan, digest = _Scan(), hashlib.sha256()
    for piece in file.chunks():
        digest.update(piece)
        scan.add(piece)
    scan.add(b"", final=True)
    scan.digest = digest.hexdigest()
    return scan


def _of_table(path: str, content: bytes, folder: BoundedFolder) -> Iterator[StateFact]:
    text = content.decode("utf-8-sig", errors="replace")
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows, header, widths = 0, list[str](), set[int]()
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if not row:
                continue
            header = row if rows == 0 else header
            widths.add(len(row))
            rows += 1
            if rows % 10_000 == 0:
                folder.budget.spend()
    except csv.Error:
        yield fact(path, "rows", "not readable as delimited text")
        return
    if not rows:
        return
    has_header = all(cell.strip() and not _NUMBER.fullmatch(cell.strip()) for cell in header)
    if has_header:
        yield fact(path, "header", delimiter.join(header))
    yield fact(path, "rows", rows - has_header)
    yield fact(path, "columns", max(widths) if len(widths) == 1 else f"{min(widths)} to {max(widths)}")
