"""Tool servers: registry, policy, approvals, calls, sign-in and health (DOC3 §0.2D–§0.2H)."""
