"""Planning: which surface to act on, and where a project's truth is."""
