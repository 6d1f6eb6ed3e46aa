"""What outlives a job or a scheduler: rows of jobs, the database they are kept in, and the decision log.

The rows have a schema of their own. Messages and engine records may change without making a database unreadable;
`slaq.scheduler.rows` translates between them and the rows.
"""

from slaq.scheduler.store.archive import Archive, MemoryArchive
from slaq.scheduler.store.known import Known
from slaq.scheduler.store.records import Body, JobRow, Summary

__all__ = ["Archive", "Body", "JobRow", "Known", "MemoryArchive", "Summary"]
