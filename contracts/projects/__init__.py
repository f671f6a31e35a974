"""Projects: where their sources are; what they mean belongs to others (DOC3 §0.7)."""
