"""Skill packs: what can be configured of the skills that come with an agent (DOC3 §4)."""
