"""One HTTP exchange with a hard end: at most so many seconds in all and so many bytes.

A socket timeout starts again with every byte, so a server that drips would hold a worker for ever. Here a
timer cuts the connection, and so does `close` when the run is stopped. Nothing here knows what is asked.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

from bccontam import __version__

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

LARGEST_ANSWER = 4_000_000
"""Bytes of a response that are read; an answer of three paths has a few hundred."""

LONGEST_CONNECT = 20.0
_PIECE = 65_536
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": f"bccontam/{__version__}",
}

Authorize = Callable[["PreparedRequest"], "PreparedRequest"]


class ExpiredError(Exception):
    """The answer was not complete in time."""


class TooLargeError(Exception):
    """The answer was larger than `LARGEST_ANSWER`; the rest was not read."""


@dataclass(frozen=True, slots=True)
class Received:
    """A complete response; header names are looked up in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Line:
    """A connection that is kept open between exchanges, for one of them at a time.

    Proxies and CA bundles come from the environment. `authorize` puts credentials on a request, so that a
    `.netrc` cannot put others there.
    """

    def __init__(self, url: str, authorize: Authorize) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._exchange: object | None = None
        self._cut = False
        self._closed = False
        self._session = _open_session(self._hold)
        self._session.auth = authorize
        # Looked up once: for each request anew, it would take a fifth of our time.
        self._environment = self._session.merge_environment_settings(url, {}, True, None, None)

    def post(self, data: bytes, timeout: float) -> Received:
        """Send JSON and read the response; redirects are not followed.

        Raises ExpiredError after `timeout` seconds or when closed, TooLargeError, and as `requests` does.
        """
        from requests import Request

        request = self._session.prepare_request(Request("POST", self._url, data=data))
        exchange = object()
        with self._lock:
            if self._closed:
                raise ExpiredError
            self._exchange, self._cut = exchange, False
        timer = threading.Timer(timeout, self._end, (exchange,))
        timer.daemon = True
        timer.start()
        try:
            with self._session.send(
                request,
                timeout=(min(timeout, LONGEST_CONNECT), timeout),
                allow_redirects=False,
                **self._environment,
            ) as response:
                received = Received(response.status_code, response.headers, _read(response))
        except (OSError, ValueError) as error:
            if self._cut:
                raise ExpiredError from error
            raise
        finally:
            timer.cancel()
            with self._lock:
                self._exchange = None
        if self._cut:
            raise ExpiredError
        return received

    def close(self) -> None:
        """Cut what is in flight and release the connection; safe from any thread."""
        with self._lock:
            self._closed = True
            exchange = self._exchange
        self._end(exchange)
        self._session.close()

    def _hold(self, connected: socket.socket) -> None:
        with self._lock:
            self._socket = connected
            if self._cut:
                _shut(connected)

    def _end(self, exchange: object) -> None:
        """Cut the connection if this exchange is still the one in flight."""
        with self._lock:
            if exchange is not None and self._exchange is exchange:
                self._cut = True
                if self._socket is not None:
                    _shut(self._socket)


def _shut(connected: socket.socket) -> None:
    # Not the TLS method of the same name: that one takes state away from under the thread that is reading.
    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return


def _read(response: Response) -> bytes:
    announced = response.headers.get("Content-Length", "")
    if announced.isdecimal() and int(announced[:20]) > LARGEST_ANSWER:
        raise TooLargeError
    body = bytearray()
    for piece in response.iter_content(_PIECE):
        body += piece
        if len(body) > LARGEST_ANSWER:
            raise TooLargeError
    return bytes(body)


def _open_session(hold: Callable[[socket.socket], None]) -> Session:
    """A session of one connection that hands over each socket it opens."""
    from requests import Session
    from requests.adapters import HTTPAdapter
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.connection import HTTPConnection, HTTPSConnection

    class PlainConnection(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            if isinstance(self.sock, socket.socket):
                hold(self.sock)

    class TlsConnection(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            if isinstance(self.sock, socket.socket):
                hold(self.sock)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = PlainConnection

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = TlsConnection

    pools = {"http": PlainPool, "https": TlsPool}

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **options: Any) -> None:
            super().init_poolmanager(*args, **options)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
            manager = super().proxy_manager_for(proxy, **options)
            if not proxy.lower().startswith("socks"):
                manager.pool_classes_by_scheme = pools
            return manager

    session = Session()
    session.headers.update(_HEADERS)
    # A cookie would tell the server that two questions belong together.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    adapter = Adapter(pool_connections=1, pool_maxsize=1)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
