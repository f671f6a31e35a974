"""The routes of categories as typed calls (DOC3 §0C.21)."""

from clients.api_transport import ApiTransport, path_part
from contracts.categories.category import (
    AssignItemRequest,
    Category,
    CategoryAssignment,
    CategoryItemKind,
    CategoryItemsResponse,
    CategoryListResponse,
    CategoryRequest,
)
from contracts.learning.responses import DeletedResponse

_ROOT = "/api/categories"


class CategoryApi:
    """The caller's categories. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def categories(self) -> CategoryListResponse:
        """List them by title."""
        return self._http.get(_ROOT, CategoryListResponse)

    def create(self, request: CategoryRequest) -> Category:
        """Make one."""
        return self._http.write("POST", _ROOT, Category, request)

    def change(self, category_id: str, request: CategoryRequest) -> Category:
        """Give one another title and colour."""
        return self._http.write("PUT", f"{_ROOT}/{path_part(category_id)}", Category, request)

    def delete(self, category_id: str) -> DeletedResponse:
        """Remove one with its assignments."""
        return self._http.write("DELETE", f"{_ROOT}/{path_part(category_id)}", DeletedResponse)

    def items(self, category_id: str, page: int = 1) -> CategoryItemsResponse:
        """List what is in one, newest first."""
        return self._http.get(f"{_ROOT}/{path_part(category_id)}/items", CategoryItemsResponse, page=page)

    def assign(self, category_id: str, request: AssignItemRequest) -> CategoryAssignment:
        """Put an item into one."""
        return self._http.write(
            "POST", f"{_ROOT}/{path_part(category_id)}/assign", CategoryAssignment, request
        )

    def remove(self, category_id: str, kind: CategoryItemKind, item_id: str) -> DeletedResponse:
        """Take an item out of one."""
        path = f"{_ROOT}/{path_part(category_id)}/items/{kind.value}/{path_part(item_id)}"
        return self._http.write("DELETE", path, DeletedResponse)
