"""An HTTP/3 server on aioquic, for the test of interoperation in internal/http3.

Usage: aioquic_server.py PORT CERT KEY [retry|v2]

GET / answers 1,000 bytes; POST / answers the body; /reset resets the stream instead of an answer;
/goaway sends GOAWAY with its answer. v2 accepts QUIC version 2 only, so that a client of
version 1 gets a version negotiation packet.
"""

import asyncio
import sys

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3_ALPN, ErrorCode, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated
from aioquic.quic.packet import QuicProtocolVersion


class Server(QuicConnectionProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http = None
        self.is_leaving = False
        self.requests = {}  # path and body of each open stream

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for part in self.http.handle_event(event):
            request = self.requests.setdefault(part.stream_id, ["", b""])
            if isinstance(part, HeadersReceived):
                request[0] = dict(part.headers)[b":path"]
            elif isinstance(part, DataReceived):
                request[1] += part.data
            if part.stream_ended:
                self.answer(part.stream_id, *self.requests.pop(part.stream_id))
        self.transmit()

    def answer(self, stream, path, body):
        if path == b"/reset":
            self._quic.reset_stream(stream, ErrorCode.H3_INTERNAL_ERROR)
            return
        if path == b"/goaway" and not self.is_leaving:
            self.is_leaving = True
            frame = encode_frame(FrameType.GOAWAY, encode_uint_var(stream + 4))
            self._quic.send_stream_data(self.http._local_control_stream_id, frame)
        body = body or b"x" * 1000
        self.http.send_headers(stream, [(b":status", b"200"), (b"content-length", b"%d" % len(body))])
        self.http.send_data(stream, body, end_stream=True)


async def main():
    port, cert, key, *modes = sys.argv[1:]
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(cert, key)
    if "v2" in modes:
        configuration.supported_versions = [QuicProtocolVersion.VERSION_2]
    await serve("127.0.0.1", int(port), configuration=configuration, create_protocol=Server, retry="retry" in modes)
    await asyncio.Future()


asyncio.run(main())
