"""Which pages a range means: ``1-3,5`` or ``10-`` (DOC3 §0.2F ``page_range``)."""


class PageRangeError(ValueError):
    """The range cannot be read, or names no page of the document; the text says which part and why."""


def pages_of(wanted: str | None, page_count: int) -> tuple[int, ...]:
    """The pages that ``wanted`` names, ascending, each once, counted from one; every page when it is None.

    An open range (``10-``) ends with the document.

    Raises:
        PageRangeError: a part is not a number or two, runs backwards, or names a page that is not there.
    """
    if wanted is None:
        return tuple(range(1, page_count + 1))
    found: set[int] = set()
    for part in wanted.split(","):
        first, last = _ends(part.strip(), page_count)
        if not 1 <= first <= last:
            raise PageRangeError(f"page range {part.strip()!r} runs backwards or starts before page 1")
        if last > page_count:
            raise PageRangeError(
                f"page range {part.strip()!r} goes beyond the document, which ends on page {page_count}"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _ends(part: str, page_count: int) -> tuple[int, int]:
    first, dash, last = part.partition("-")
    if not (_is_number(first) and (last == "" or _is_number(last))):
        raise PageRangeError(f"page range {part!r} is not of the form 3, 1-3 or 10-; write such as 1-3,5")
    start = int(first)
    if not dash:
        return start, start
    return start, int(last) if last else max(page_count, start)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
