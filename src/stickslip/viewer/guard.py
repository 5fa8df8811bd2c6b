"""Guard: which browsers may talk to the viewer.

A page of another site can make a browser open a WebSocket to this machine, and a name whose owner points it at
127.0.0.1 gets past a check of the address. So every request must name this machine as its ``Host``, and one that says
which page it comes from (``Origin``) must come from the viewer's own page. All others are answered by 403.
"""

from __future__ import annotations

import http
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that stand for all addresses of a machine."""
_replacing = threading.Lock()


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_own_name(name: str, host: str) -> bool:
    """Whether ``name`` is a name of this machine for a server that listens at ``host``: a loopback name or ``host``
    itself. With a host of ``EVERYWHERE`` all addresses are, since no other site can have them as its name, and so is
    the machine's name."""
    name, host = name.lower().rstrip("."), host.lower().rstrip(".")
    if name in ("localhost", host) or (is_address(name) and ip_address(name).is_loopback):
        return True
    return host in EVERYWHERE and (is_address(name) or name in (socket.gethostname().lower(), socket.getfqdn().lower()))


def may_enter(hosts: list[str], origins: list[str], host: str) -> bool:
    """Whether a request with these headers ``Host`` and ``Origin`` may enter a server that listens at ``host``."""
    try:
        asked = [urlsplit(f"//{text}") for text in hosts]
        if len(asked) != 1 or not is_own_name(asked[0].hostname or "", host):
            return False
        own = [f"{scheme}://{asked[0].netloc}".lower() for scheme in ("http", "https")]
        return all(page.lower() in own for page in origins)
    except ValueError:  # a malformed address
        return False


def _silent() -> logging.Logger:
    """Where ``websockets`` tells of malformed requests and messages. Anybody on this machine can send some, and each
    would be a traceback on the terminal, where only the connection that sent it ends."""
    logger = logging.getLogger("stickslip.viewer")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


@contextmanager
def guarded(host: str) -> Iterator[list[Any]]:
    """Servers that are started within the block answer only requests that ``may_enter``; they are in the list.

    viser has no setting for it. It hands the function that answers HTTP requests to ``websockets``, which asks it first
    about WebSockets, too; so the function is replaced on its way.
    """
    from websockets.asyncio import server

    started: list[Any] = []
    with _replacing:
        serve = server.serve

        def serve_guarded(*arguments: Any, process_request: Callable, **options: Any) -> Any:
            def answer(connection: Any, request: Any) -> Any:
                headers = request.headers
                if may_enter(headers.get_all("Host"), headers.get_all("Origin"), host):
                    return process_request(connection, request)
                return connection.respond(
                    http.HTTPStatus.FORBIDDEN,
                    "This viewer answers its own page only, under the address that 'stickslip view' prints.\n",
                )

            started.append(serve(*arguments, process_request=answer, **{"logger": _silent()} | options))
            return started[-1]

        server.serve = serve_guarded  # type: ignore[assignment, misc]
        try:
            yield started
        finally:
            server.serve = serve  # type: ignore[misc]
