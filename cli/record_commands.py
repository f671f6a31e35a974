"""``apprentice record``: recording a demonstration."""
