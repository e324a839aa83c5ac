"""HTTP/2 frames and a small gRPC client, for the stress tests of the daemon.

Blocking, one call at a time on a connection, standard library only: so that a test can hold fifty
good clients, and send byte by byte what no proper client would.
"""
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE,
 CONTINUATION) = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 1, 4, 5
SERVICE = "/cuzk.v1.ProvingEngine/"

# gRPC status codes.
(OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS,
 PERMISSION_DENIED, RESOURCE_EXHAUSTED, _, _, _, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, _,
 UNAUTHENTICATED) = range(17)


class Lost(Exception):
    """The connection is gone; what became of the call is not known."""


class RpcError(Exception):
    def __init__(self, code, text):
        super().__init__("status %d: %s" % (code, text))
        self.code = code


# ---- frames ----

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(**values):
    numbers = {"header_table_size": 1, "enable_push": 2, "max_concurrent_streams": 3,
               "initial_window_size": 4, "max_frame_size": 5, "max_header_list_size": 6}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", numbers[k], v)
                                          for k, v in values.items()))


def connect(address, timeout=30):
    """A socket to "unix:///path" or "host:port"."""
    try:
        if address.startswith("unix:"):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(timeout)
            s.connect(address[len("unix://"):])
            return s
        host, port = address.rsplit(":", 1)
        s = socket.create_connection((host, int(port)), timeout)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s
    except OSError as e:
        raise Lost("cannot connect: %s" % e)


# ---- header blocks (RFC 7541), without dynamic table and Huffman codes ----

def hpack_int(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = bytearray([first | most]), value - most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def hpack_text(text):
    data = text.encode() if isinstance(text, str) else text
    return hpack_int(len(data), 7, 0) + data


def hpack_encode(headers):
    return b"".join(b"\0" + hpack_text(name) + hpack_text(value) for name, value in headers)


# Of the static table only what a gRPC reply may use; other names stay numbers.
STATIC = {8: (":status", "200"), 13: (":status", "404"), 14: (":status", "500"),
          31: ("content-type", "")}


class HpackReader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def int(self, bits):
        most = (1 << bits) - 1
        value, shift = self.data[self.at] & most, 0
        self.at += 1
        while value >= most or shift > 0:
            b = self.data[self.at]
            self.at += 1
            value += (b & 127) << shift
            shift += 7
            if b < 128:
                break
        return value

    def text(self):
        huffman, n = self.data[self.at] & 128, self.int(7)
        raw = self.data[self.at:self.at + n]
        self.at += n
        return "(huffman)" if huffman else raw.decode("latin-1")

    def headers(self):
        out = {}
        while self.at < len(self.data):
            b = self.data[self.at]
            if b & 128:
                name, value = STATIC.get(self.int(7), ("?", "?"))
            elif b & 64 == 0 and b & 32:
                self.int(5)  # a new table size: ours is 0
                continue
            else:
                index = self.int(6 if b & 64 else 4)
                name = STATIC.get(index, ("#%d" % index,))[0] if index else self.text()
                value = self.text()
            out[name] = value
        return out


# ---- protobuf ----

def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def pb(*fields):
    """(number, int | str | bytes) pairs as a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        b = data[at]
        at += 1
        value |= (b & 127) << shift
        shift += 7
        if b < 128:
            return value, at


def unpb(data):
    """A message of varints and byte strings as {number: last value}."""
    out, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        elif tag & 7 != 0:
            raise ValueError("wire type %d" % (tag & 7))
        out[tag >> 3] = value
    return out


def message(body, flag=0, length=None):
    """A gRPC message: flag, length, body."""
    return struct.pack(">BI", flag, len(body) if length is None else length) + body


# ---- a connection ----

def call_headers(path, token=None, more=()):
    headers = [(":method", "POST"), (":scheme", "http"), (":path", path),
               (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers")]
    if token is not None:
        headers.append(("authorization", "Bearer " + token))
    return hpack_encode(headers + list(more))


class Connection:
    """Frames are taken from the socket only while a call waits for something."""

    def __init__(self, address, token=None, timeout=60):
        self.socket, self.token, self.timeout = connect(address, timeout), token, timeout
        self.buffer = b""
        self.next_stream = 1
        self.window, self.initial_window, self.max_frame = 65535, 65535, 16384
        self.stream_window = 65535
        self.send(PREFACE + settings(header_table_size=0, initial_window_size=1 << 24) +
                  frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 24)))

    def close(self):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as e:
            raise Lost(str(e))

    def read(self, n):
        while len(self.buffer) < n:
            try:
                more = self.socket.recv(65536)
            except socket.timeout:
                raise Lost("nothing for %s s" % self.socket.gettimeout())
            except OSError as e:
                raise Lost(str(e))
            if not more:
                raise Lost("closed")
            self.buffer += more
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def next_frame(self):
        head = self.read(9)
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        return kind, flags, stream & 0x7fffffff, self.read(int.from_bytes(head[:3], "big"))

    def take_settings(self, payload):
        for at in range(0, len(payload), 6):
            number, value = struct.unpack(">HI", payload[at:at + 6])
            if number == INITIAL_WINDOW_SIZE:
                self.stream_window += value - self.initial_window
                self.initial_window = value
            elif number == MAX_FRAME_SIZE:
                self.max_frame = value
        self.send(frame(SETTINGS, ACK, 0))

    def handle(self, stream):
        """The next frame; None when it was about the connection, not about the stream."""
        kind, flags, number, payload = self.next_frame()
        if kind == SETTINGS and not flags & ACK:
            self.take_settings(payload)
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            raise Lost("GOAWAY: %s" % payload[8:].decode("latin-1"))
        elif kind == WINDOW_UPDATE:
            more = struct.unpack(">I", payload)[0]
            if number == 0:
                self.window += more
            elif number == stream:
                self.stream_window += more
        elif number == stream:
            return kind, flags, payload
        return None

    def open(self, path, more=()):
        """Headers of a new call; its stream number."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.stream_window = self.initial_window
        self.send(frame(HEADERS, END_HEADERS, stream, call_headers(path, self.token, more)))
        return stream

    def send_some(self, stream, data, end=False):
        """As much as the windows allow now; how much that was."""
        n = max(0, min(len(data), self.window, self.stream_window, self.max_frame))
        if n == 0 and data:
            return 0
        self.send(frame(DATA, END_STREAM if end and n == len(data) else 0, stream, bytes(data[:n])))
        self.window -= n
        self.stream_window -= n
        return n

    def call(self, method, body, timeout=None, more=()):
        """The reply's body; RpcError or Lost."""
        stream = self.open(method if method[0] == "/" else SERVICE + method, more)
        return self.finish(stream, message(body), timeout)

    def finish(self, stream, data, timeout=None):
        """Send the rest of a call's data, then wait for its end."""
        self.socket.settimeout(timeout or self.timeout)
        data, status, reply, block = memoryview(data), None, b"", b""
        while status is None:
            sent = self.send_some(stream, data, end=True) if data else 0
            data = data[sent:]
            if sent and data:
                continue
            event = self.handle(stream)
            if event is None:
                continue
            kind, flags, payload = event
            if kind == DATA:
                reply += payload
                if payload:
                    self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
            elif kind in (HEADERS, CONTINUATION):
                block += payload
                if flags & END_HEADERS:
                    headers, block = HpackReader(block).headers(), b""
                    if "grpc-status" in headers:
                        status = int(headers["grpc-status"]), headers.get("grpc-message", "")
                    elif headers.get(":status", "200") != "200":
                        status = UNKNOWN, "HTTP " + headers[":status"]
            elif kind == RST_STREAM:
                status = CANCELLED, "RST_STREAM %d" % struct.unpack(">I", payload)[0]
        if status[0] != OK:
            raise RpcError(*status)
        return reply[5:]
