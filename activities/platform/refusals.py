"""Turns refusals and full disks into application errors that Temporal does not retry."""

import errno
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import OperationalError
from temporalio.exceptions import ApplicationError

from contracts.errors import ErrorCode, Refusal

Params = ParamSpec("Params")
Result = TypeVar("Result")


@contextmanager
def refusals_are_final() -> Generator[None]:
    """A refusal is final: the error's type is its code. Everything else propagates and is retried."""
    try:
        yield
    except Refusal as refusal:
        raise ApplicationError(
            refusal.message, refusal.extra, type=refusal.code.value, non_retryable=True
        ) from None


@contextmanager
def refusals_by_rule() -> Generator[None]:
    """For what drives another workflow: a refusal that may pass by itself is tried again, others are final."""
    try:
        yield
    except Refusal as refusal:
        raise ApplicationError(
            refusal.message, refusal.extra, type=refusal.code.value, non_retryable=not refusal.retryable
        ) from None


@contextmanager
def as_application_errors() -> Generator[None]:
    """As ``refusals_are_final``, and so is a full disk."""
    try:
        with refusals_are_final():
            yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _full(error) from error
        raise
    except OperationalError as error:
        if "disk is full" in str(error.orig):
            raise _full(error) from error
        raise


def refusing(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """``function`` with its refusals as ``as_application_errors`` has them."""

    @wraps(function)
    def wrapper(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        with as_application_errors():
            return function(*args, **kwargs)

    return wrapper


def _full(error: Exception) -> ApplicationError:
    return ApplicationError(
        "The disk is full; free space and repeat the command.",
        {"cause": type(error).__name__},
        type=ErrorCode.STORAGE_FULL.value,
        non_retryable=True,
    )
