"""All thirty lessons, in the order of their modules."""

from tests.lessons.first import databases, files, pictures, programs, repositories, settings, tables, texts
from tests.lessons.lesson import Lesson
from tests.lessons.second import documents, filing, queries, shell, versions
from tests.lessons.second import tables as second_tables

LESSONS: tuple[Lesson, ...] = (
    *texts.LESSONS,
    *tables.LESSONS,
    *files.LESSONS,
    *pictures.LESSONS,
    *databases.LESSONS,
    *repositories.LESSONS,
    *programs.LESSONS,
    *settings.LESSONS,
    *shell.LESSONS,
    *second_tables.LESSONS,
    *documents.LESSONS,
    *filing.LESSONS,
    *queries.LESSONS,
    *versions.LESSONS,
)
