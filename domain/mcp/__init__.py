"""The rules of the tool gateway: policy, badges, health, scopes."""
