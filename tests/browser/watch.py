"""What a page must not do: ask another host, fail in a script, complain on its console."""

from __future__ import annotations

from typing import Any


class Watch:
    """Listens to a page from before it opens."""

    def __init__(self, page: Any, *homes: str) -> None:
        self.off_host: list[str] = []
        self.errors: list[str] = []
        self._homes = (*homes, "data:", "blob:", "about:")
        page.on("request", lambda request: self._request(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)[:300]))
        page.on("console", lambda message: self._console(message.type, message.text))

    def _request(self, url: str) -> None:
        if not url.startswith(self._homes):
            self.off_host.append(url[:200])

    def _console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.errors.append(text[:300])
