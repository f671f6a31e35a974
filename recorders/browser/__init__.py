"""The browser recorder: what a person does in Chromium by role and accessible name, never what they typed."""

from recorders.browser.options import BrowserRecorderOptions, BrowserRecordingSummary
from recorders.browser.recording import record_browser

__all__ = ["BrowserRecorderOptions", "BrowserRecordingSummary", "record_browser"]
