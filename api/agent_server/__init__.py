"""Apprentice as a tool server of its own: any MCP client finds abilities, reads skills and calls tools here."""
