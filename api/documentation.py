"""The API's document as pages at ``/docs``, from this machine alone: nothing is loaded from elsewhere."""

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

PAGE = "/docs"
_ASSETS = "/docs/assets"


def add_documentation(app: FastAPI) -> None:
    """Serves the pages and what they are made of."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=f"{app.title} API",
        swagger_js_url=f"{_ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{_ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{_ASSETS}/favicon-32x32.png",
        # A token typed in here is forgotten with the page.
        swagger_ui_parameters={"filter": True, "persistAuthorization": False},
    )

    async def documentation() -> HTMLResponse:
        return page

    app.add_api_route(PAGE, documentation, include_in_schema=False)
    app.mount(_ASSETS, StaticFiles(packages=[("fastapi_swagger", "resources")]), name="documentation")
