"""The daemon with the real prover, through cuzk's own commands: winning and window proofs of 2 KiB
sectors. test_commands.py CUZK DATA"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

CUZK, DATA = sys.argv[1], os.path.join(sys.argv[2], "filecoin")


def cuzk(*args, ok=True, **env):
    r = subprocess.run([CUZK, *args], capture_output=True, text=True, timeout=120,
                       env={**os.environ, **env})
    if ok and r.returncode != 0:
        raise AssertionError("cuzk %s: %d\n%s%s" % (" ".join(args), r.returncode, r.stdout, r.stderr))
    return r


def vanilla(kind):
    folder = os.path.join(DATA, kind + "-2k")
    return ["--vanilla", os.path.join(folder, "vanilla.json"),
            "--meta", os.path.join(folder, "meta.json")]


def read(path):
    with open(path) as f:
        return f.read()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    def __init__(self, params, *args, socket_fd=None):
        self.folder = tempfile.mkdtemp(prefix="cuzk-commands-")
        self.address = "unix://%s/sock" % self.folder
        self.http = "127.0.0.1:%d" % free_port()
        self.log = open(os.path.join(self.folder, "log"), "w+")
        command = [CUZK, "serve", "--listen", self.address, "--http", self.http, "--state-dir",
                   os.path.join(self.folder, "state"), "--params", params, "--device", "cpu", *args]
        more = {}
        if socket_fd is not None:  # as systemd passes one: descriptor 3, and the process's own id
            command = ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *command]
            more = {"pass_fds": (3,), "env": {**os.environ, "LISTEN_FDS": "1"}}
            os.dup2(socket_fd, 3)
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, **more)
        for _ in range(400):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen("http://%s/readyz" % self.http, timeout=2).read()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError("does not serve:\n" + self.text())

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.log.close()
        shutil.rmtree(self.folder)
        return code


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.params = tempfile.mkdtemp(prefix="cuzk-params-")
        for circuit in ("winning-2k", "window-2k"):
            cuzk("setup", "--circuit", circuit, "--out", cls.params, "--seed", "07" * 32)
        cls.daemon = Daemon(cls.params)
        cls.at = ("--daemon", cls.daemon.address)

    @classmethod
    def tearDownClass(cls):
        code = cls.daemon.stop()
        shutil.rmtree(cls.params)
        assert code == 0, code

    def verify(self, kind, proof):
        cuzk("verify", kind, "--proof", proof, "--params", self.params,
             "--meta", os.path.join(DATA, kind + "-2k", "meta.json"))

    def test_submit_and_await(self):
        proof = os.path.join(self.daemon.folder, "proof")
        for kind in ("winning", "window"):
            submit = ["submit", kind, *vanilla(kind), "--request-id", "id of " + kind, *self.at]
            self.assertEqual(cuzk(*submit).stdout, "id of %s\n" % kind)
            cuzk("await", "id of " + kind, "--out", proof, *self.at)
            self.verify(kind, proof)
            self.assertEqual(cuzk(*submit).stdout, "id of %s\n" % kind)  # joins
            r = cuzk(*submit, "--priority", "low", ok=False)  # another message
            self.assertEqual(r.returncode, 2)
            self.assertIn("another request exists", r.stderr)
        result = json.loads(cuzk("await", "id of window", "--json", *self.at).stdout)
        self.assertEqual(len(result["proof"]), 2 * 2 * 192)
        self.assertEqual(result["status"], "completed")

    def test_prove_at_a_daemon(self):
        proof = os.path.join(self.daemon.folder, "proof2")
        cuzk("prove", "winning", *vanilla("winning"), "--daemon", self.daemon.address, "--out", proof)
        self.verify("winning", proof)
        r = cuzk("prove", "winning", *vanilla("winning"), ok=False)
        self.assertEqual(r.returncode, 2)

    def test_bad_inputs_are_failed_jobs(self):
        meta = json.loads(read(os.path.join(DATA, "winning-2k", "meta.json")))
        meta["randomness"] = "00" * 32
        path = os.path.join(self.daemon.folder, "meta.json")
        with open(path, "w") as f:
            json.dump(meta, f)
        job = cuzk("submit", "winning", vanilla("winning")[0], vanilla("winning")[1], "--meta", path,
                   *self.at).stdout.strip()
        r = cuzk("await", job, *self.at, ok=False)
        self.assertEqual(r.returncode, 1)
        self.assertIn("failed", r.stderr)
        self.assertNotIn("/tmp", r.stderr)

    def test_exit_codes(self):
        self.assertEqual(cuzk("await", "nobody", *self.at, ok=False).returncode, 2)
        self.assertEqual(cuzk("cancel", "nobody", *self.at, ok=False).returncode, 2)
        self.assertEqual(cuzk("await", *self.at, ok=False).returncode, 2)
        self.assertEqual(cuzk("preload", "porep-3g", *self.at, ok=False).returncode, 2)
        r = cuzk("preload", "porep-2k", *self.at, ok=False)  # no such parameters there
        self.assertEqual(r.returncode, 2)
        self.assertNotIn(self.params, r.stderr)
        self.assertNotEqual(cuzk("status", "--daemon", "unix:///nowhere", ok=False).returncode, 0)

    def test_status_and_keys(self):
        cuzk("preload", "winning-2k", *self.at)
        self.assertIn("already", cuzk("preload", "winning-2k", *self.at).stdout)
        status = json.loads(cuzk("status", "--json", CUZK_DAEMON=self.daemon.address).stdout)
        self.assertIn("winning-2k", [k["circuit_id"] for k in status["loaded_srs"]])
        self.assertEqual([q["proof_kind"] for q in status["queues"]],
                         ["porep-c2", "snap-update", "window-post", "winning-post"])
        self.assertTrue(status["gpus"][0]["name"].startswith("CPU"))
        self.assertIn("memory", cuzk("top", "--pictures", "2", *self.at).stdout)

    def test_bench_and_timeline(self):
        out, svg = (os.path.join(self.daemon.folder, n) for n in ("t.json", "t.svg"))
        r = json.loads(cuzk("bench", "daemon", "--count", "4", "--concurrency", "2", "--mix",
                            "winning=1", "--http", self.daemon.http, "--timeline", out, "--svg", svg,
                            *self.at).stdout)
        self.assertEqual((r["jobs"], r["failed"], r["all"]["completed"]), (4, 0, 4))
        self.assertLessEqual(r["all"]["p50_s"], r["all"]["max_s"])
        rows = json.loads(read(out))
        self.assertEqual(len([x for x in rows if x["stage"] == "device"]), 4)
        self.assertTrue(all(x["from_ms"] <= x["to_ms"] for x in rows))
        self.assertIn("device 0", read(svg))

    def test_configuration(self):
        path = os.path.join(self.daemon.folder, "c.toml")
        with open(path, "w") as f:
            f.write('[daemon]\nlisten = "127.0.0.1:1"\nqueue_limit = 5\n')
        cuzk("config", "check", "--config", path)
        shown = cuzk("config", "show", "--config", path, "--log-level", "debug",
                     CUZK_DAEMON_RESULT_LIMIT="9").stdout
        for line in ("queue_limit = 5 # file", "result_limit = 9 # environment",
                     'level = "debug" # flag', "max_streams = 256 # default"):
            self.assertIn(line, shown)
        with open(path, "a") as f:
            f.write("quue_limit = 5\n")
        r = cuzk("config", "check", "--config", path, ok=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn(path + ":4: unknown key", r.stderr)
        # The daemon does not start with it either, also in the Rust program's way.
        self.assertEqual(cuzk("--config", path, ok=False).returncode, 2)
        r = cuzk("serve", "--listen", "0.0.0.0:1", ok=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn("insecure", r.stderr)


class Settings(unittest.TestCase):
    """Daemons started in other ways."""

    def test_tokens_are_read_again(self):
        folder = tempfile.mkdtemp(prefix="cuzk-tokens-")
        tokens, config = os.path.join(folder, "tokens"), os.path.join(folder, "c.toml")
        tcp = "127.0.0.1:%d" % free_port()

        def write(token):
            with open(tokens, "w") as f:
                f.write(token + " observe\n")
            os.chmod(tokens, 0o600)
        write("first-token-0001")
        with open(config, "w") as f:
            f.write('[daemon]\ntoken_file = "%s"\n' % tokens)
        d = Daemon("/nonexistent", "--config", config, "--listen", tcp)
        status = ["status", "--daemon", tcp, "--token-file", tokens]
        cuzk(*status)
        self.assertEqual(cuzk("status", "--daemon", tcp, ok=False).returncode, 2)
        write("other-token-0002")
        self.assertEqual(cuzk(*status, ok=False).returncode, 2)
        d.process.send_signal(signal.SIGHUP)
        for _ in range(100):
            if "reloaded" in d.text():
                break
            time.sleep(0.05)
        cuzk(*status)
        self.assertEqual(d.stop(), 0)
        shutil.rmtree(folder)

    def test_mutual_tls(self):
        if shutil.which("openssl") is None:
            self.skipTest("no openssl")
        folder = tempfile.mkdtemp(prefix="cuzk-tls-")
        at = lambda name: os.path.join(folder, name)

        def certificate(name, issuer):
            subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at(name + ".key"),
                            "-x509" if issuer is None else "-new", "-subj", "/CN=" + name,
                            "-addext", "subjectAltName=DNS:localhost", "-days", "2",
                            "-out", at(name + (".pem" if issuer is None else ".csr"))],
                           check=True, capture_output=True)
            if issuer is not None:
                with open(at("ext"), "w") as f:
                    f.write("subjectAltName=DNS:localhost\n")
                subprocess.run(["openssl", "x509", "-req", "-in", at(name + ".csr"), "-CA",
                                at(issuer + ".pem"), "-CAkey", at(issuer + ".key"), "-CAcreateserial",
                                "-days", "2", "-extfile", at("ext"), "-out", at(name + ".pem")],
                               check=True, capture_output=True)
        for name, issuer in (("ca", None), ("server", "ca"), ("client", "ca"), ("other", None)):
            certificate(name, issuer)
        with open(at("c.toml"), "w") as f:
            f.write('[daemon]\ntls_cert = "%s"\ntls_key = "%s"\ntls_client_ca = "%s"\n' %
                    (at("server.pem"), at("server.key"), at("ca.pem")))
        tcp = "localhost:%d" % free_port()
        d = Daemon("/nonexistent", "--config", at("c.toml"), "--listen", tcp)
        status = ["status", "--daemon", tcp, "--tls-ca", at("ca.pem")]
        cuzk(*status, "--tls-cert", at("client.pem"), "--tls-key", at("client.key"))
        for bad in (status, status + ["--tls-cert", at("other.pem"), "--tls-key", at("other.key")],
                    ["status", "--daemon", tcp]):
            self.assertNotEqual(cuzk(*bad, ok=False).returncode, 0)
        self.assertEqual(d.stop(), 0)
        shutil.rmtree(folder)

    def test_socket_activation(self):
        if "libsystemd" not in subprocess.run(["ldd", CUZK], capture_output=True, text=True).stdout:
            self.skipTest("built without libsystemd")
        folder = tempfile.mkdtemp(prefix="cuzk-activation-")
        path = os.path.join(folder, "passed")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        d = Daemon("/nonexistent", socket_fd=listener.fileno())
        cuzk("status", "--daemon", "unix://" + path)
        self.assertFalse(os.path.exists(os.path.join(d.folder, "sock")))
        self.assertEqual(d.stop(), 0)
        listener.close()
        shutil.rmtree(folder)

    def test_json_log(self):
        d = Daemon("/nonexistent", "--log-format", "json", "--log-level", "debug")
        lines = [json.loads(line) for line in d.text().splitlines()]
        self.assertIn("ready", lines[-1]["message"])
        self.assertEqual(d.stop(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
