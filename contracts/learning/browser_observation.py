"""What the browser recorder knows of one action or of a page; our addition to DOC3's event (§0A.9, §0A.10)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text120, Text160, Text200


class BrowserAction(StrEnum):
    """What happened in a page; ``snapshot`` is what could be seen afterwards."""

    NAVIGATE = "navigate"
    CLICK = "click"
    INPUT = "input"
    SELECT = "select"
    SUBMIT = "submit"
    DOWNLOAD = "download"
    SNAPSHOT = "snapshot"


class EnteredValue(Contract):
    """A value by its class only: never the text. A password's length is 0, a file input's the number of files."""

    kind: Text80 = Field(
        description="The kind of field: text, password, email, date, choice, file, checked …"
    )
    length: int = Field(ge=0, le=10_000_000, description="Characters, or files.")


class PageSummary(Contract):
    """What a page tells a person who listens to it: names and messages, no values and no markup."""

    headings: tuple[Text120, ...] = Field(default=(), max_length=12)
    landmarks: tuple[Text120, ...] = Field(default=(), max_length=12)
    fields: tuple[Text120, ...] = Field(default=(), max_length=30)
    messages: tuple[Text160, ...] = Field(default=(), max_length=6, description="Status and live regions.")
    alerts: tuple[Text160, ...] = Field(default=(), max_length=6)
    dialogs: tuple[Text120, ...] = Field(default=(), max_length=4)
    invalid_fields: tuple[Text120, ...] = Field(default=(), max_length=30)


class BrowserObservation(Contract):
    """One action by its meaning: role and accessible name, never a selector or a place on the screen."""

    action: BrowserAction
    site: Text200 = Field(description="The page's origin, without credentials: https://shop.example.")
    page_path: Text200 = Field(default="", description="The address's path, without query and fragment.")
    page_title: Text200 = ""
    role: Text80 | None = Field(default=None, description="The ARIA role of what was acted on.")
    accessible_name: Text160 | None = None
    form_name: Text160 | None = Field(default=None, description="The form or dialog it belongs to.")
    value: EnteredValue | None = None
    file_name: Text160 | None = Field(default=None, description="A download's name.")
    outcome: PageSummary | None = Field(default=None, description="Of a snapshot: what the page showed.")
