"""What can go wrong with a secret. No message holds a value, or a part of one."""


class SecretProblem(Exception):
    """A secret cannot be had or kept."""


class SecretNotFound(SecretProblem):
    """There is no such secret of this owner, or it has expired."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"there is no secret {ref} of this owner, or it has expired")


class SecretConflict(SecretProblem):
    """The secret was changed meanwhile, or its reference is taken."""


class SecretTampered(SecretProblem):
    """What is stored is not what was sealed: damaged, or moved to another record."""

    def __init__(self, ref: str) -> None:
        super().__init__(
            f"secret {ref} is damaged or was altered in the database; put the database back from a backup, "
            "or enter the secret again"
        )


class SecretKeyLost(SecretProblem):
    """The key that sealed a secret is nowhere to be found."""

    def __init__(self, ref: str, key_id: str, looked_into: str) -> None:
        super().__init__(
            f"secret {ref} was sealed with {key_id}, which is not in {looked_into}; put the keys back from a "
            "backup (every machine of a cluster needs the same ones), or enter the secret or sign in again"
        )
        self.key_id = key_id


class SecretKeysUnavailable(SecretProblem):
    """The keys cannot be read or kept; nothing was overwritten."""
