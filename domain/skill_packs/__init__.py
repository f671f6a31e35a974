"""Rules of the skills that come with an agent."""
