"""Categories: grouping objects of a user (DOC3 §0C.21)."""
