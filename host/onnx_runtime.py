"""ONNX Runtime as it may be used here: without the reports on its use that it sends to its makers by default."""

import os
from typing import Any

WITHOUT_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
"""The environment that it reads at its import; without it, it also leaves a file in the temporary folder."""


def onnx_runtime() -> Any:
    """The module, imported when it is first asked for; raises ImportError where it is not installed."""
    os.environ.update(WITHOUT_TELEMETRY)
    import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

    return onnxruntime
