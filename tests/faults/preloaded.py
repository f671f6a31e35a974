"""What the process that forks workers and APIs has done already, so that none of them does it again.

Only the forkserver imports this. Everything is imported, and what a worker reads of each bundled skill has been read.
What is frozen is looked at by no garbage collector: in a new process the first collection would touch, and so copy,
all that it shares with the others.
"""

import gc
from datetime import UTC, datetime
from pathlib import Path

from contracts.skills.catalog import SkillAllowlist
from skills.runtime.roots import SkillRoots
from tests.faults import process_mains
from worker.skill_composition import BUNDLED

__all__ = ["process_mains"]

_NOWHERE = Path("/nowhere")

SkillRoots(_NOWHERE, _NOWHERE, BUNDLED).scan(SkillAllowlist(), datetime.now(UTC))
gc.collect()
gc.freeze()
