"""Errors of the lab's preparation."""


class PreparationError(Exception):
    """The lab cannot be set up on this machine. The message says what to do."""
