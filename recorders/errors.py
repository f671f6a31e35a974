"""What can go wrong for every recorder."""


class RecorderError(Exception):
    """The recorder cannot start or go on; the message says why and what to do."""
