"""Slow, broken and hostile clients: memory stays bounded and good clients are served throughout.

stress_abuse.py CUZK [--seconds S] [--connections N] [--seed SEED]: S seconds of 100 clients that
send 64 MiB bodies at a crawl, then wrong tokens, broken frames and messages, then N connections.
"""
import argparse
import os
import random
import select
import shutil
import socket
import struct
import tempfile
import threading
import time

import stress_daemon
import stress_h2 as h2

MiB = 1 << 20
BUDGET, SLOW_CLIENTS, BODY, MAX_CONNECTIONS = 2048 * MiB, 100, 64 * MiB, 300
# The room for messages on their way at this budget (four of 64 MiB and one of 128 MiB), and what the
# process has beside it.
BOUND, OWN = 384 * MiB, 64 * MiB
ADMIN, SUBMIT, OBSERVE = "admin-" + "a" * 32, "submit-" + "s" * 32, "observe-" + "o" * 32
CONFIG = """
[daemon]
token_file = "%s"
max_connections = %d
max_streams = 64
max_message = "128MiB"
body_timeout = "20s"
body_grace = "200ms"
idle_timeout = "3s"
[memory]
total_budget = %d
[logging]
level = "warn"
"""


class GoodClients:
    """Two clients that go on all the time: one asks for the status on one connection, the other
    submits a job and waits for it, with a connection for each job. None of their calls may fail."""

    def __init__(self, daemon, sample):
        self.daemon, self.sample, self.stop = daemon, sample, False
        self.new_connections = threading.Event()
        self.new_connections.set()
        self.lock = threading.Lock()
        self.errors, self.status_s, self.submit_s, self.proofs = [], [], [], []
        self.threads = [threading.Thread(target=self.guard, args=(f,))
                        for f in (self.ask_status, self.prove_jobs)]
        for t in self.threads:
            t.start()

    def guard(self, fn):
        try:
            fn()
        except Exception as e:
            self.errors.append("%s: %r" % (fn.__name__, e))

    def ask_status(self):
        client = h2.Connection(self.daemon.tcp, OBSERVE)
        while not self.stop:
            start = time.monotonic()
            client.call("GetStatus", b"")
            self.status_s.append(time.monotonic() - start)
            time.sleep(0.02)

    def prove_jobs(self):
        while not self.stop:
            if not self.new_connections.wait(0.1):
                continue
            with self.lock:
                client = h2.Connection(self.daemon.tcp, SUBMIT, timeout=120)
                start = time.monotonic()
                job = stress_daemon.submit(client, self.sample, "good-%d" % len(self.proofs))
                self.submit_s.append(time.monotonic() - start)
                result = stress_daemon.wait(client, job)
                client.close()
            assert result.get(2) == stress_daemon.COMPLETED, result
            self.proofs.append(result[3])

    def pause_new(self):
        """No new connections from here on; returns when the running job is over."""
        self.new_connections.clear()
        with self.lock:
            pass

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join()


class Phase:
    """Measures the daemon and the good clients over a with block, and holds them to the bounds."""

    bound = BOUND + OWN

    def __init__(self, name, daemon, good):
        self.name, self.daemon, self.good = name, daemon, good

    def counts(self):
        return len(self.good.status_s), len(self.good.submit_s), len(self.good.proofs)

    def __enter__(self):
        self.daemon.reset_peak()
        self.at, self.start = self.counts(), time.monotonic()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            return
        seconds, (status, submit, proofs) = time.monotonic() - self.start, self.at
        until = time.monotonic() + 60
        while not self.good.errors and time.monotonic() < until and self.counts()[2] == proofs:
            time.sleep(0.05)
        peak = self.daemon.memory("VmHWM")
        print("%s: %.1f s; peak %.0f MiB, then %.0f MiB; %d status calls, at most %.0f ms; "
              "%d proofs, submitted in at most %.0f ms" %
              (self.name, seconds, peak / MiB, self.daemon.memory() / MiB,
               len(self.good.status_s) - status, 1000 * max(self.good.status_s[status:], default=0),
               len(self.good.proofs) - proofs, 1000 * max(self.good.submit_s[submit:], default=0)),
              flush=True)
        assert self.daemon.alive(), self.daemon.last_words()
        assert not self.good.errors, self.good.errors
        assert len(self.good.proofs) > proofs and len(self.good.status_s) > status
        assert peak < self.bound, "%s: %d MiB" % (self.name, peak / MiB)


# ---- slow bodies ----

def slow_body(daemon, until, greedy, told, sent):
    """A body of 64 MiB that never ends: trickled, or as fast as it is taken up to the last bytes."""
    while time.monotonic() < until:
        client = h2.Connection(daemon.tcp, SUBMIT, timeout=0.25)
        try:
            stream = client.open(h2.SERVICE + "SubmitProof")
            client.send_some(stream, h2.message(b"", length=BODY))
            left, piece = BODY - 1024, bytes(16384 if greedy else 256)
            while time.monotonic() < until:
                readable = client.buffer or select.select([client.socket], [], [], 0)[0]
                n = client.send_some(stream, piece[:left])
                left -= n
                sent[greedy] += n
                if not greedy or n == 0:
                    readable = readable or select.select([client.socket], [], [], 0.05)[0]
                if readable:
                    event = client.handle(stream)
                    if event is not None and event[0] in (h2.HEADERS, h2.RST_STREAM):
                        told[greedy] += 1
                        break
        except h2.Lost:
            pass
        client.close()


def slow_bodies(daemon, seconds):
    told, sent = [0, 0], [0, 0]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=slow_body, args=(daemon, until, i % 2, told, sent))
               for i in range(SLOW_CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("  %d MiB trickled, %d MiB pushed; %d and %d calls were ended for slowness" %
          (sent[0] / MiB, sent[1] / MiB, told[0], told[1]))
    assert sum(told) > 0, "no slow client was turned away"


# ---- what the service must say ----

def code_of(client, method, body, more=()):
    try:
        client.call(method, body, more=more)
        return h2.OK
    except h2.RpcError as e:
        return e.code


def check_code(address, token, method, body, wanted, what):
    client = h2.Connection(address, token)
    code = code_of(client, method, body)
    client.close()
    assert code == wanted, "%s: status %d instead of %d" % (what, code, wanted)


def wrong_tokens(daemon, sample, rounds):
    evict = h2.pb((1, "window-2k"))
    for i in range(rounds):
        for token in (None, "", "wrong", OBSERVE[:-1], OBSERVE + "x", "x" * 4096, "a\xff\x01b"):
            check_code(daemon.tcp, token, "GetStatus", b"", h2.UNAUTHENTICATED, "token %r" % token)
            check_code(daemon.tcp, token, "SubmitProof", sample.request("evil-%d" % i),
                       h2.UNAUTHENTICATED, "token %r" % token)
        for token, method, body in ((SUBMIT, "EvictSRS", evict), (OBSERVE, "SubmitProof", b""),
                                    (OBSERVE, "CancelProof", h2.pb((1, "good-0")))):
            check_code(daemon.tcp, token, method, body, h2.PERMISSION_DENIED, method)


def bad_messages(daemon, sample):
    """Well-formed HTTP/2 around what is no request."""
    good = sample.request("evil")
    cases = {
        "empty submit": ("SubmitProof", b"", h2.INVALID_ARGUMENT),
        "cut short": ("SubmitProof", good[:-1], h2.INVALID_ARGUMENT),
        "endless varint": ("SubmitProof", b"\xff" * 64, h2.INVALID_ARGUMENT),
        "field of 4 GiB": ("SubmitProof", b"\x52\xff\xff\xff\xff\x0f", h2.INVALID_ARGUMENT),
        "group": ("SubmitProof", b"\x0b\x0c", h2.INVALID_ARGUMENT),
        "long id": ("AwaitProof", h2.pb((1, "x" * 100000)), h2.INVALID_ARGUMENT),
        "id that is no text": ("AwaitProof", h2.pb((1, b"\xff\xfe")), h2.INVALID_ARGUMENT),
        "unknown job": ("AwaitProof", h2.pb((1, "never")), h2.NOT_FOUND),
        "unknown circuit": ("PreloadSRS", h2.pb((1, "../../etc/passwd")), h2.INVALID_ARGUMENT),
        "unknown method": ("Nothing", b"", h2.UNIMPLEMENTED),
        "oversized": ("SubmitProof", bytes(128 * MiB + 1), h2.RESOURCE_EXHAUSTED),
    }
    for name, (method, body, wanted) in cases.items():
        check_code(daemon.tcp, ADMIN, method, body, wanted, name)
    client = h2.Connection(daemon.tcp, ADMIN)
    for job, body in (("a million empty proofs", b"\x5a\0" * 10**6),
                      ("a million unknown fields", b"\xf8\x07\1" * 10**6),
                      ("a proof of noise", h2.pb((4, 10), (22, bytes(32)), (11, b"?" * 5000)))):
        client.call("SubmitProof", h2.pb((1, job), (2, stress_daemon.WINDOW_POST)) + body)
        result = stress_daemon.wait(client, job)
        assert result.get(2) == stress_daemon.FAILED and result.get(4), (job, result)
    client.close()


# ---- broken frames ----

def headers_frame(path=h2.SERVICE + "GetStatus", more=(), flags=h2.END_HEADERS, stream=1):
    return h2.frame(h2.HEADERS, flags, stream, h2.call_headers(path, OBSERVE, more))


def broken_frames(rng):
    """(name, bytes after the preface and settings)"""
    head, data = headers_frame(), h2.frame(h2.DATA, h2.END_STREAM, 1, h2.message(b""))
    u32 = lambda v: struct.pack(">I", v)
    yield "message cut short", head + h2.frame(h2.DATA, 1, 1, h2.message(b"abc", length=1000))
    yield "message without a prefix", head + h2.frame(h2.DATA, 1, 1, b"\0\0")
    yield "compressed without a codec", head + h2.frame(h2.DATA, 1, 1, h2.message(b"abc", flag=1))
    yield "unknown message flag", head + h2.frame(h2.DATA, 1, 1, h2.message(b"abc", flag=77))
    yield "message of 4 GiB", head + h2.frame(h2.DATA, 1, 1, h2.message(b"", length=0xffffffff))
    yield "no message", headers_frame(flags=h2.END_HEADERS | h2.END_STREAM)
    yield "two messages", head + h2.frame(h2.DATA, 1, 1, h2.message(b"") * 2)
    yield "a thousand messages", head + h2.frame(h2.DATA, 1, 1, h2.message(b"") * 1000)
    yield "data before headers", data
    yield "data on stream 0", h2.frame(h2.DATA, 0, 0, b"x")
    yield "headers on stream 0", h2.frame(h2.HEADERS, 4, 0, b"\x82")
    yield "headers on an even stream", headers_frame(stream=2)
    yield "stream numbers that fall", headers_frame(stream=9) + headers_frame(stream=3)
    yield "frame beyond the limit", b"\xff\xff\xff" + h2.frame(h2.DATA, 0, 1)[3:]
    yield "unknown frame", h2.frame(200, 255, 1, b"?" * 100)
    yield "settings of odd length", h2.frame(h2.SETTINGS, 0, 0, b"abcde")
    yield "settings on a stream", h2.frame(h2.SETTINGS, 0, 1)
    yield "window beyond 2^31", h2.settings(initial_window_size=0xffffffff)
    yield "frame size 0", h2.settings(max_frame_size=0)
    yield "window update of 0", h2.frame(h2.WINDOW_UPDATE, 0, 0, u32(0))
    yield "window overflow", h2.frame(h2.WINDOW_UPDATE, 0, 0, u32(0x7fffffff)) * 2
    yield "short ping", h2.frame(h2.PING, 0, 0, b"abc")
    yield "push promise", h2.frame(h2.PUSH_PROMISE, 4, 1, u32(2) + b"\x82")
    yield "continuation alone", h2.frame(h2.CONTINUATION, 4, 1, b"\x82")
    yield "headers broken off by data", headers_frame(flags=0) + data
    yield "padding longer than the frame", h2.frame(h2.HEADERS, 4 | 8, 1, b"\xff\x82")
    yield "header index 0", h2.frame(h2.HEADERS, 4, 1, b"\x80")
    yield "header index far out", h2.frame(h2.HEADERS, 4, 1, b"\xff\xff\xff\xff\x7f")
    yield "header text cut short", h2.frame(h2.HEADERS, 4, 1, b"\0\x7f\xff\x01x")
    yield "bad Huffman code", h2.frame(h2.HEADERS, 4, 1, b"\0\x84\xff\xff\xff\xff\x84" + b"\xff" * 4)
    yield "table size beyond the limit", h2.frame(h2.HEADERS, 4, 1, b"\x3f\xff\xff\xff\x7f")
    yield "headers of 64 KiB", headers_frame(more=[("x", "y" * 8000)] * 8)[:3] + headers_frame()[3:]
    yield "metadata beyond the limit", headers_frame(more=[("k%d" % i, "v" * 100)
                                                           for i in range(150)]) + data
    yield "headers twice", head + headers_frame() + data
    yield "no path", h2.frame(h2.HEADERS, 4, 1, h2.hpack_encode([(":method", "POST")])) + data
    yield "bad characters", headers_frame(path="/\0\r\n\xff") + data
    yield "HTTP/1", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield "flood: continuations", headers_frame(flags=0) + h2.frame(
        h2.CONTINUATION, 0, 1, h2.hpack_encode([("x", "y" * 100)])) * 20000
    yield "flood: empty continuations", headers_frame(flags=0) + h2.frame(
        h2.CONTINUATION, 0, 1) * 50000
    yield "flood: settings", h2.settings(initial_window_size=65535) * 20000
    yield "flood: pings", h2.frame(h2.PING, 0, 0, bytes(8)) * 20000
    yield "flood: streams opened and reset", b"".join(
        headers_frame(stream=s) + h2.frame(h2.RST_STREAM, 0, s, u32(8)) for s in range(1, 8001, 2))
    yield "flood: streams left open", b"".join(headers_frame(stream=s) for s in range(1, 4001, 2))
    yield "flood: empty data", head + h2.frame(h2.DATA, 0, 1) * 50000
    yield "flood: priorities", b"".join(h2.frame(h2.PRIORITY, 0, s, u32(s) + b"\0")
                                        for s in range(1, 20001, 2))
    for i in range(40):
        yield "noise %d" % i, rng.randbytes(rng.randrange(1, 4096))
    for i in range(60):
        broken = bytearray(head + data)
        for _ in range(rng.randrange(1, 6)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        yield "flipped bytes %d" % i, bytes(broken[:rng.randrange(1, len(broken) + 1)])


def send_broken(address, data):
    """Send and see what comes, until the daemon closes or is silent."""
    s = h2.connect(address, 0.1)
    received = 0
    try:
        view = memoryview(h2.PREFACE + h2.settings(header_table_size=0) + data)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            readable, writable, _ = select.select([s], [s] if view else [], [], 0.05)
            if readable:
                more = len(s.recv(65536))
                received += more
                if more == 0:
                    break
            if writable:
                view = view[s.send(view[:65536]):]
            if not readable and not writable:
                break
    except OSError:
        pass
    s.close()
    return received


# ---- connections ----

def shake(address, kind):
    s = h2.connect(address, 10)
    if kind == 1:
        s.sendall(h2.PREFACE + h2.settings())
    elif kind == 2:
        s.sendall(h2.PREFACE[:10])
    elif kind == 3:
        s.sendall(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(64))
    elif kind == 4:  # away with a reset
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def many_connections(daemon, n, rng):
    for i in range(n):
        try:
            shake(daemon.tcp, rng.randrange(5))
        except (OSError, h2.Lost):
            pass  # refused: closed ones are not all cleared away yet


def wait_for_connection(address, seconds):
    """Seconds until a new client is served."""
    start = time.monotonic()
    while True:
        try:
            client = h2.Connection(address, OBSERVE, timeout=2)
            client.call("GetStatus", b"")
            client.close()
            return time.monotonic() - start
        except h2.Lost:
            assert time.monotonic() - start < seconds, "new clients are not served"
            time.sleep(0.05)


def full_table(daemon, first_bytes, release):
    """Hold more connections than are taken; then let them go, or wait until they are put out."""
    held = []
    for _ in range(MAX_CONNECTIONS + 100):
        try:
            s = h2.connect(daemon.tcp, 5)
            s.sendall(first_bytes)
            held.append(s)
        except (OSError, h2.Lost):
            pass
    time.sleep(0.5)
    if release:
        for s in held:
            s.close()
    seconds = wait_for_connection(daemon.tcp, 30)
    print("  %d held; a new client is served %.1f s after %s" %
          (len(held), seconds, "they are gone" if release else "that"))
    for s in held:
        s.close()


def run(daemon, good, sample, args, rng):
    with Phase("%d slow bodies" % SLOW_CLIENTS, daemon, good):
        slow_bodies(daemon, args.seconds)
    with Phase("wrong tokens", daemon, good):
        wrong_tokens(daemon, sample, 5)
    with Phase("bad messages", daemon, good):
        bad_messages(daemon, sample)
    with Phase("broken frames", daemon, good):
        for name, data in broken_frames(rng):
            send_broken(daemon.tcp, data)
            assert daemon.alive(), "%s: %s" % (name, daemon.last_words())
            assert not good.errors, (name, good.errors)
    with Phase("%d connections" % args.connections, daemon, good):
        many_connections(daemon, args.connections, rng)
        wait_for_connection(daemon.tcp, 10)
    with Phase("full table", daemon, good):
        good.pause_new()
        full_table(daemon, h2.PREFACE + h2.settings(), release=True)
        full_table(daemon, h2.PREFACE + h2.settings(), release=False)
        full_table(daemon, b"", release=False)
        good.new_connections.set()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cuzk")
    parser.add_argument("--seconds", type=float,
                        default=float(os.environ.get("CUZK_STRESS_SECONDS", 6)))
    parser.add_argument("--connections", type=int,
                        default=int(os.environ.get("CUZK_STRESS_CONNECTIONS", 10000)))
    parser.add_argument("--seed", default=os.environ.get("CUZK_STRESS_SEED", str(time.time_ns())))
    parser.add_argument("--sanitized", action="store_true", help="no bounds on memory")
    args = parser.parse_args()
    if args.sanitized:
        Phase.bound = float("inf")
    print("seed", args.seed, flush=True)
    folder = tempfile.mkdtemp(prefix="cuzk-stress-")
    tokens = os.path.join(folder, "tokens")
    with open(os.open(tokens, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        f.write("%s all\n%s submit\n%s observe\n" % (ADMIN, SUBMIT, OBSERVE))
    daemon = stress_daemon.Daemon(args.cuzk, folder, CONFIG % (tokens, MAX_CONNECTIONS, BUDGET),
                                  tcp=True)
    good = None
    try:
        stress_daemon.make_params(args.cuzk, folder)
        sample = stress_daemon.Sample(args.cuzk, folder, 0)
        daemon.start()
        daemon.wait_ready()
        good = GoodClients(daemon, sample)
        with Phase("good clients alone", daemon, good):
            time.sleep(1)
        alone = daemon.memory()
        run(daemon, good, sample, args, random.Random(args.seed))
        good.end()
        assert not good.errors, good.errors
        assert all(sample.verifies(p) for p in good.proofs), "a proof does not verify"
        time.sleep(12)  # the daemon gives free memory back every ten seconds
        print("memory: %.0f MiB with good clients alone, %.0f MiB afterwards" %
              (alone / MiB, daemon.memory() / MiB))
        assert daemon.memory() < alone + OWN / 4 or args.sanitized, "memory does not come back"
        code = daemon.stop()
        assert code == 0, "exit code %s: %s" % (code, daemon.last_words())
    except BaseException:
        if os.path.exists(daemon.log):
            print(daemon.last_words())
        raise
    finally:
        if good is not None:
            good.stop = True
        if daemon.alive():
            daemon.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
