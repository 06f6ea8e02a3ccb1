"""Responses by h11: whatever HTTP/1.1 allows, and every mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11

from markscheme.ask.incoming import NotHttpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markscheme.ask.incoming import Request


class Parsed:
    """A response that h11 reads, as the one to the request that was sent."""

    def __init__(self, request: Request, body: bytes) -> None:
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.whole = False
        self.lasting = False
        self._http = h11.Connection(h11.CLIENT)
        headers = [(name.encode(), value.encode()) for name, value in request.headers]
        meant = h11.Request(method=request.method, target=request.target, headers=headers)
        for part in (meant, h11.Data(data=body), h11.EndOfMessage()):
            self._http.send(part)

    def take(self, data: bytes) -> Iterator[bytes]:
        """Take what came; yield what of it is body. Who is connected tells of an end too soon."""
        try:
            self._http.receive_data(data)
            while not self.whole:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                if isinstance(event, h11.Data):
                    yield bytes(event.data)
                elif self._note(event):
                    return
        except h11.RemoteProtocolError as error:
            if data:
                raise NotHttpError(str(error)) from error

    def _note(self, event: object) -> bool:
        """Take a part that is not body; say whether nothing more comes."""
        match event:
            case h11.Response():
                self.status = event.status_code
                told = event.headers
                self.headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in told}
                self.whole = self._http.their_state is h11.SWITCHED_PROTOCOL
            case h11.EndOfMessage():
                self.whole = True
                self.lasting = self._http.our_state is self._http.their_state is h11.DONE
        return isinstance(event, h11.ConnectionClosed)
