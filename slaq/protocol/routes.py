"""The routes of the scheduler: every path with its body and its answer.

| route | body | answer | who |
| --- | --- | --- | --- |
| POST /v1/beat | Beat | Answer | any user, for their own applications |
| GET /v1/status | | Status | any user |
| GET /v1/jobs | | JobList; query below | any user; only their own jobs unless admin |
| GET /v1/jobs/{id} | | JobDetail | owner or admin |
| PATCH /v1/jobs/{id} | Change | JobView | owner or admin |
| GET /v1/dump | | Dump | admin |
| GET /metrics | | Prometheus text | any user |
| GET /v1/events | | server-sent events of the page | any user; only their own jobs unless admin |
| GET /v1/past | | `from=`, `until=`: the decisions of that time, and with `jobs=1` what each job did in it | any \
user; only their own jobs unless admin |
| GET /v1/what-if | | the same with `policy=`: what that policy would have made of it | admin |
| GET, POST, DELETE /v1/session | POST: `{"token": …}` | who asks; POST sets the cookie of a session | everyone |
| GET /, /ui/… | | the page | everyone |
| GET /healthz | | `ok`; 503 while no decision is made | everyone |

`GET /v1/jobs` takes `user=`, `state=` (a JobState, or `active` for all states of jobs that have not ended;
repeatable), `sort=` (a field of JobView, `-` in front for descending; default `-began_at`), `limit=` (default 100,
at most 1000) and `offset=`.

A token goes into `Authorization: Bearer …`, or a browser trades it for a session; without tokens (loopback only)
everyone is admin. Bodies are `application/json`. Refusals carry a Failure: 400 malformed, 401 no valid token, 403
another user's, 404 no such job, 405 no such method, 409 the job has ended, 413 too large, 415 not JSON, 426 another
protocol version, 429 too often or too many, 503 no decision for a lease.
"""

BEAT = "/v1/beat"
STATUS = "/v1/status"
JOBS = "/v1/jobs"
JOB = "/v1/jobs/{id}"
DUMP = "/v1/dump"
EVENTS = "/v1/events"
SESSION = "/v1/session"
PAST = "/v1/past"
WHAT_IF = "/v1/what-if"
PAGE = "/ui/"
METRICS = "/metrics"
HEALTH = "/healthz"
