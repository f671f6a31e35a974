"""Configuration: which intents are taken, and what they leave."""
