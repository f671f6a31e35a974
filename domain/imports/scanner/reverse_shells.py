"""Reverse shells over several statements: a connection outward, a shell, and what ties the two together."""

import re
from collections.abc import Iterator, Sequence

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, Found
from domain.imports.scanner.mentions import only_named
from domain.imports.scanner.passages import Passage
from domain.imports.scanner.searching import Search

WINDOW = 40
"""Within how many statements the three parts stand."""

_PARTS = (
    Search(
        r"\.connect(?:_ex)?\(|create_connection\(|\bnet\.(?:Socket|connect|createConnection)|TCPClient|TCPSocket|fsockopen\(|IO::Socket|net\.Dial\(|TcpStream::connect|/dev/tcp/",
    ),
    Search(
        r"/bin/(?:ba|z|da|k)?sh\b|\bcmd(?:\.exe)?[\"']|\bpowershell(?:\.exe)?[\"']|\bSHELL\b|[\"'](?:ba|z)?sh[\"']|\biex\b|\bInvoke-Expression\b",
    ),
    Search(
        r"\bdup2\(|\.pipe\(|\bpty\.spawn|\bfileno\(\)|stdin\s*=|std(?:in|out)\.pipe|GetStream\(|Std(?:in|out)\(?\s*=|RedirectStandard|>&\d|<&\d|\bsh\.std",
    ),
)

_LOOPBACK = re.compile(r"\blocalhost\b|\b127\.0\.0\.1\b|[\"']::1[\"']", re.I)


def reverse_shells(statements: Sequence[Passage]) -> Iterator[Found]:
    """A shell that is tied to a connection, once for each place."""
    places: list[int] = [-WINDOW - 1] * len(_PARTS)
    for number, passage in enumerate(statements):
        if not passage.words:
            continue
        hit = False
        for part, pattern in enumerate(_PARTS):
            match = pattern.search(passage)
            if match is not None and _LOOPBACK.search(passage.text):
                continue
            if match is not None and not only_named(passage, match.start(), match.end()):
                places[part], hit = number, True
        if hit and number - min(places) < WINDOW:
            first = statements[min(places)]
            yield Found(
                ScanCode.REVERSE_SHELL,
                BLOCKS,
                first.line,
                first.text,
                "Connects a shell to another machine and lets whoever is there run commands.",
            )
            return
