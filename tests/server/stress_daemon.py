"""What the stress tests of the daemon share: parameters, samples, a daemon that can be killed."""
import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import stress_h2 as h2

# cuzk.v1.AwaitProofResponse.Status
COMPLETED, FAILED, TIMEOUT = 1, 2, 4
WINDOW_POST = 3
# The cheapest real proof there is: some 0.3 s of one core.
CIRCUIT, SECTOR_BYTES = "window-2k", 2048
REGISTERED = {"StackedDrgWindow2KiBV1": 5, "StackedDrgWindow2KiBV1_2": 10}


def cuzk(binary, *args):
    r = subprocess.run([binary, *args], capture_output=True, text=True, timeout=600)
    if r.returncode != 0:
        raise AssertionError("cuzk %s: %s" % (" ".join(args), r.stderr))
    return r.stdout


class Sample:
    """A vanilla proof of its own sector and randomness, and how to check a proof of it."""

    def __init__(self, binary, folder, number):
        self.binary, self.params = binary, os.path.join(folder, "params")
        self.meta = os.path.join(folder, "meta-%d.json" % number)
        vanilla = os.path.join(folder, "vanilla-%d.json" % number)
        cuzk(binary, "synth", "window", "--sector-size", "2KiB", "--out", vanilla, "--meta",
             self.meta, "--seed", "%064x" % (number + 1))
        with open(self.meta) as f:
            meta = json.load(f)
        with open(vanilla) as f:
            blobs = [base64.b64decode(b) for b in json.load(f)]
        self.fields = [(2, WINDOW_POST), (3, SECTOR_BYTES),
                       (4, REGISTERED[meta["registered_proof"]]), (21, 1000),
                       (22, bytes.fromhex(meta["randomness"]))] + [(11, b) for b in blobs]

    def request(self, request_id):
        return h2.pb((1, request_id), *self.fields)

    def verify_args(self):
        return ["window", "--meta", self.meta]

    def verifies(self, proof):
        with tempfile.NamedTemporaryFile() as f:
            f.write(proof)
            f.flush()
            r = subprocess.run([self.binary, "verify", *self.verify_args(), "--proof", f.name,
                                "--params", self.params], capture_output=True, timeout=60)
        return r.returncode == 0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """`cuzk serve` on the CPU, on a unix socket in `folder`, with more configuration as TOML; with
    `tcp` also on a free port of the loopback interface."""

    def __init__(self, binary, folder, config="", tcp=False):
        self.binary, self.folder, self.process = binary, folder, None
        self.tcp = "127.0.0.1:%d" % free_port() if tcp else None
        self.address = "unix://" + os.path.join(folder, "cuzk.sock")
        self.state = os.path.join(folder, "state")
        self.config = os.path.join(folder, "cuzk.toml")
        self.log = os.path.join(folder, "log")
        with open(self.config, "w") as f:
            f.write(config)
        signal.signal(signal.SIGTERM, self.terminated)

    def terminated(self, *_):
        """The test itself is broken off: no daemon and no files stay behind."""
        if self.alive():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(1)

    def start(self, *args):
        listen = self.address + ("," + self.tcp if self.tcp else "")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--config", self.config, "--listen", listen, "--http", "off",
                 "--state-dir", self.state, "--params", os.path.join(self.folder, "params"),
                 "--device", "cpu", *args], stdout=log, stderr=log)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def wait_ready(self, seconds=60):
        until = time.monotonic() + seconds
        while True:
            if not self.alive():
                raise AssertionError("the daemon ended by itself:\n" + self.last_words())
            try:
                return self.status()
            except h2.Lost:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def client(self, token=None, timeout=60):
        return h2.Connection(self.address, token, timeout)

    def status(self):
        """cuzk.v1.GetStatusResponse by field number."""
        client = self.client(timeout=10)
        try:
            return h2.unpb(client.call("GetStatus", b""))
        finally:
            client.close()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """An orderly end; the exit code."""
        if not self.alive():
            return None
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def last_words(self):
        with open(self.log, errors="replace") as f:
            return "".join(f.readlines()[-20:])

    def memory(self, name="VmRSS"):
        """Bytes; VmHWM: the peak since the start or the last reset_peak."""
        with open("/proc/%d/status" % self.process.pid) as f:
            for line in f:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no %s" % name)

    def reset_peak(self):
        with open("/proc/%d/clear_refs" % self.process.pid, "w") as f:
            f.write("5")

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def submit(client, sample, request_id):
    """The job's id, once it is on disk."""
    return h2.unpb(client.call("SubmitProof", sample.request(request_id)))[1].decode()


def wait(client, job_id, timeout_ms=60000):
    """cuzk.v1.AwaitProofResponse by field number."""
    return h2.unpb(client.call("AwaitProof", h2.pb((1, job_id), (2, timeout_ms)),
                               timeout=timeout_ms / 1000 + 60))


def prove(client, sample, request_id):
    return h2.unpb(h2.unpb(client.call("Prove", h2.pb((1, sample.request(request_id))),
                                       timeout=600))[1])


def make_params(binary, folder, circuit=CIRCUIT):
    cuzk(binary, "setup", "--circuit", circuit, "--out", os.path.join(folder, "params"), "--seed",
         "%064x" % 77)
