"""The scheduler's API as the commands call it."""

import contextlib
import http.client
import ssl
from collections.abc import Iterable
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from slaq.cli._ids import meant
from slaq.cli._text import plain
from slaq.config import Config, read_token
from slaq.errors import SlaqError
from slaq.protocol import Change, Dump, Failure, JobDetail, JobList, JobView, Status, routes
from slaq.protocol.address import address_parts
from slaq.protocol.names import sendable
from slaq.records import ENDINGS, LIVING

T = TypeVar("T")
EVERY_STATE = (*LIVING, *ENDINGS)
PAGE = 1000
"""The most jobs that the scheduler lists in one answer."""


class NotFoundError(SlaqError):
    """The scheduler does not know what was asked for."""


class UnreachableError(SlaqError):
    """Nothing answered, or it was not a SLAQ scheduler."""


class Client:
    """The way to the scheduler; every failure is a SlaqError with one sentence for people."""

    def __init__(self, config: Config) -> None:
        self._config = config
        for address in config.addresses:
            if address_parts(address) is None:
                raise SlaqError(f"endpoint is {address!r}; give an address such as http://scheduler:7527")
        self._use(config.addresses[0])
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if config.token_file:
            self._headers["Authorization"] = f"Bearer {read_token(config.token_file)}"

    def status(self) -> Status:
        return self._ask("GET", routes.STATUS, Status)

    def jobs(self, *, limit: int = PAGE, **query: str | Iterable[str]) -> JobList:
        """The first `limit` jobs that match, from as many pages as needed."""
        found: list[JobView] = []
        while True:
            page = {**query, "limit": str(min(limit - len(found), PAGE)), "offset": str(len(found))}
            answer = self._ask("GET", f"{routes.JOBS}?{urlencode(page, doseq=True, errors='replace')}", JobList)
            found += answer.jobs
            if not answer.jobs or len(found) >= min(limit, answer.total):
                return JobList(found, answer.total)

    def job(self, name: str) -> JobDetail:
        """The job with this id; otherwise the only one that `find` finds."""
        try:
            return self._ask("GET", _path(name), JobDetail)
        except NotFoundError:
            return self._ask("GET", _path(self.find(name)), JobDetail)

    def find(self, name: str) -> str:
        """The id of the only job whose id begins so, whose short id or whose name is this; a living one first."""
        found = meant(name, self.jobs(state=EVERY_STATE, limit=10 * PAGE).jobs)
        living = [job for job in found if job.ended_at is None]
        matches = living if len(living) == 1 else found
        if len(matches) == 1:
            return matches[0].id
        if matches:
            shown = ", ".join(plain(match.id) for match in matches[:3])
            raise SlaqError(f"{name!r} fits {len(matches)} jobs: {shown}, …; give more of the id")
        raise NotFoundError(f"no job {name!r}; `slaq jobs --state all` lists them")

    def change(self, name: str, change: Change) -> JobView:
        """Change the job that `job` finds."""
        body = msgspec.json.encode(change)
        try:
            return self._ask("PATCH", _path(name), JobView, body)
        except NotFoundError:
            return self._ask("PATCH", _path(self.find(name)), JobView, body)

    def dump(self) -> Dump:
        return self._ask("GET", routes.DUMP, Dump)

    def _use(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._parts = urlsplit(self.address)

    def _ask(self, method: str, path: str, answer: type[T], body: bytes | None = None) -> T:
        status, data = self._exchange(method, path, body)
        try:
            if status == 200:
                return msgspec.json.decode(data, type=answer)
            sentence = plain(msgspec.json.decode(data, type=Failure).error)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise UnreachableError(
                f"{self.address} answered {method} {path.partition('?')[0]} with {status} and no SLAQ message; "
                f"set endpoint (--endpoint, SLAQ_ENDPOINT) to the address of a scheduler of this version"
            ) from None
        if status == 404:
            raise NotFoundError(sentence)
        if status == 401:
            sentence += "; set token_file (--token-file, SLAQ_TOKEN_FILE) to the file with your token"
        raise SlaqError(sentence)

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """The reply of the first scheduler that is there, the one that was there last coming first."""
        others = [address for address in self._config.addresses if address.rstrip("/") != self.address]
        for other in others:
            try:
                return self._exchange_once(method, path, body)
            except UnreachableError:
                self._use(other)
        return self._exchange_once(method, path, body)

    def _exchange_once(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        try:
            with contextlib.closing(self._connection()) as connection:
                connection.request(method, self._parts.path + path, body, self._headers)
                response = connection.getresponse()
                return response.status, response.read()
        except ssl.SSLCertVerificationError as error:
            raise UnreachableError(
                f"{self.address} is not trusted ({plain(error.verify_message)}: certificate verify failed); "
                f"set ca_file (SLAQ_CA_FILE) to the certificate that signed it"
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise UnreachableError(
                f"cannot reach the scheduler at {self.address} ({plain(reason)}); start one with `slaq scheduler`, "
                f"or set endpoint (--endpoint, SLAQ_ENDPOINT) to its address"
            ) from None

    def _connection(self) -> http.client.HTTPConnection:
        host, port, timeout_s = self._parts.hostname or "", self._parts.port, self._config.timeout_s
        if self._parts.scheme == "https":
            trust = ssl.create_default_context(cafile=self._config.ca_file or None)
            return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=trust)
        return http.client.HTTPConnection(host, port, timeout=timeout_s)


def _path(job: str) -> str:
    return routes.JOB.format(id=quote(sendable(job), safe=""))
