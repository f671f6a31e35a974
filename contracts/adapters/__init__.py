"""Adapters of applications, each a family of typed operations (DOC3 §0.2F)."""
