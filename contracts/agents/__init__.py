"""What agents ask Apprentice for as a tool server of its own, and what they are answered."""
