"""What the process that forks workers and APIs has loaded already, so that none of them does it again.

Only the forkserver imports this: what ``apprentice up`` forks its parts from, and the programs of these tests.
"""

from cli.processes.fork_server import load
from tests.faults import process_mains

__all__ = ["process_mains"]

load()
