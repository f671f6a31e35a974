"""validate_content: every check, one score, and whether a person has to look."""

import time
from typing import Any


async def handle(params: dict[str, Any], context: Any) -> dict[str, Any]:
    began = time.monotonic()
    judged = await context.model.judge(content=params["content"], rules=params.get("validation_rules") or {})
    errors = [one for one in judged["issues"] if one["severity"] == "error"]
    late = judged["late"]
    warnings = [
        one["message"][:240] for one in judged["issues"] if one["message"].startswith("VALIDATION_ERROR")
    ]
    if late:
        warnings.append("SAFETY_CHECK_TIMEOUT: claims were not judged in time; a person has to look at them.")
    valid = not errors and not late
    return {
        "success": True,
        "status": "partial" if late else "success",
        "result": {
            "valid": valid,
            "confidence_score": judged["confidence_score"],
            "issues": judged["issues"],
            "requires_human_review": not valid,
            "validation_time_ms": round((time.monotonic() - began) * 1000),
        },
        "message": "The content is valid." if valid else "A person has to look at the content.",
        "warnings": warnings,
    }
