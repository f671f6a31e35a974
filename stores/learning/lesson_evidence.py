"""Evidence of lessons: what the replay of a session's demonstration showed, until its observations are purged."""

from contracts.base import rfc3339
from contracts.learning.evidence import LessonEvidence
from stores.learning.learning_tables import LESSON_EVIDENCE
from stores.platform.database import Database


class LessonEvidenceStore:
    """The newest evidence of each session. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, session_id: str, evidence: LessonEvidence) -> None:
        """Keeps the evidence in the place of any that was found before."""
        with self._database.write() as connection:
            LESSON_EVIDENCE.put(
                connection, evidence, session_id=session_id, made_at=rfc3339(evidence.made_at)
            )

    def of_session(self, session_id: str) -> LessonEvidence | None:
        """What the replay showed; ``None`` where there was no starting state to replay it on."""
        with self._database.read() as connection:
            return LESSON_EVIDENCE.find(connection, session_id)
