"""Configuration: changed by intents alone (DOC3 §0.2G, §0C.9C)."""
