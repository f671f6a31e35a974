"""What every list says beside its items: how many match, and which page of them this is."""

from pydantic import Field

from contracts.base import VersionedContract


class Page(VersionedContract):
    """The frame of a list that is always answered page by page: at most 100 a page."""

    total: int = Field(ge=0)
    page: int = Field(ge=1)
    page_size: int = Field(ge=1, le=100)


class ListCounts(Page):
    """The counts of a list that is answered whole unless a page is asked for."""

    total: int = Field(default=0, ge=0, description="How many items match, on all pages.")
    page: int = Field(default=1, ge=1)
    page_size: int = Field(
        default=1,
        ge=1,
        description="The most on one page; where none was asked for, all that there are, and 1 where there are none.",
    )
