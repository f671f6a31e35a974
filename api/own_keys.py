"""The keys of requests that brought none; apart, so that gateways and what opens them need not know routes."""

OWN_KEY_PREFIX = "once-"
"""Starts the keys of requests that brought none: nobody can ask again for what they were answered."""
