"""The key holder's side of a server (``sunzi serve``), with the calls of ``sunzi remote``: evaluation keys, programs and encrypted tables are sent, jobs are
asked for, and results fetched.

``sunzi.Client`` waits for answers, ``sunzi.AsyncClient`` has the same calls as coroutines. They take the package httpx, which ``pip install 'sunzi[client]'``
installs too. Secrets stay here: what says that it is one is refused before a byte of it is sent.
"""

from ._remote_client import AnyProgram, AnyTable, AsyncClient, AsyncJob, Client, Job
from ._remote_records import Account, JobStatus, Stored

__all__ = ["Account", "AnyProgram", "AnyTable", "AsyncClient", "AsyncJob", "Client", "Job", "JobStatus", "Stored"]
