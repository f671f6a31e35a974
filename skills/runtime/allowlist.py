"""The allowlist of skills: which folders a person has approved, in ``SKILL_MANIFEST.json`` (AM-02, X-3).

It lies in the data directory, outside every root that an agent may write to. Also read is the form of the document,
``{"approvedSkills": ["calendar"]}``: its bare names approve folders that ship with the product, as shipped, and no
others; while they are left out, all of those are approved.
"""

import json
import logging
import os
import stat
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from contracts.errors import ErrorCode, Refusal
from contracts.plain_problems import problem_sentence
from contracts.skills.catalog import ApprovedSkill, SkillAllowlist, SkillRoot

FILE_NAME = "SKILL_MANIFEST.json"
MAX_BYTES = 1_048_576

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_logger = logging.getLogger(__name__)


class Allowlist:
    """The file in one data directory. One process at a time writes it."""

    def __init__(self, data_directory: Path) -> None:
        self._path = data_directory / FILE_NAME

    def read(self) -> SkillAllowlist:
        """Who is approved. A file that cannot be read or trusted approves nobody, and the log says why."""
        try:
            return self._read()
        except Refusal as error:
            _logger.warning("no skill is approved: %s", error.message)
            return SkillAllowlist(approvedSkills=())

    def approve(self, root: SkillRoot, name: str, digest: str, by: str, at: datetime) -> SkillAllowlist:
        """Approves a folder with this content, in place of what was approved of it before.

        Raises:
            Refusal: ``CONFLICT``, the file that is there is malformed; it is left as it is.
        """
        known = self._read()
        others = tuple(one for one in known.approvals if (one.root, one.name) != (root, name))
        approved = ApprovedSkill(root=root, name=name, digest=digest, approved_by=by, approved_at=at)
        after = known.changed(approvals=(*others, approved))
        self._write(after)
        return after

    def _read(self) -> SkillAllowlist:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return SkillAllowlist()
        except OSError as error:
            raise self._refusal(f"cannot be opened ({error.strerror})") from error
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise self._refusal("is no regular file")
            if status.st_mode & _WRITABLE_BY_OTHERS:
                raise self._refusal("may be written by other users; take that right away (chmod 600)")
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise self._refusal(f"is longer than {MAX_BYTES} bytes")
        try:
            return SkillAllowlist.model_validate_json(text)
        except ValidationError as error:
            wrong = problem_sentence(error, whole="the document")
            raise self._refusal(f"is malformed: {wrong}") from error

    def _write(self, allowlist: SkillAllowlist) -> None:
        body = allowlist.model_dump(mode="json", exclude_none=True)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f".{FILE_NAME}.{os.getpid()}")
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(body, indent=2, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(descriptor)
            beside.replace(self._path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _refusal(self, problem: str) -> Refusal:
        return Refusal(
            ErrorCode.CONFLICT, f"{FILE_NAME} {problem}; mend or remove {self._path}.", retryable=False
        )
