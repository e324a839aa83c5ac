"""What the tests of the command line share: one set of small parameters, and how to call cuzk."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CUZK, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FILECOIN = os.path.join(DATA, "filecoin")
PROGRESS = re.compile(r"[a-z0-9_ ]+: \d+% \(\d+\.\d s\)$")


def run(*args, cwd=None, preexec=None):
    return subprocess.run([CUZK, *args], capture_output=True, text=True, cwd=cwd, timeout=600,
                          preexec_fn=preexec)


def toxic_secrets(shape, path):
    with open(os.path.join(FILECOIN, "params", shape + ".json")) as f:
        toxic = json.load(f)["toxic"]
    with open(path, "w") as f:
        json.dump(toxic, f)


def setup_with_golden_secrets(folder, shape, circuit):
    secrets = os.path.join(folder, shape + ".secrets.json")
    toxic_secrets(shape, secrets)
    return run("setup", "--circuit", circuit, "--out", os.path.join(folder, "params"), "--secrets",
               secrets)


class CliCase(unittest.TestCase):
    """One set of winning-2k and window-2k parameters, made from the golden data's secrets."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="cuzk-cli-")
        cls.params = os.path.join(cls.dir, "params")
        for shape, circuit in (("winning-2KiB", "winning-2k"), ("window-2KiB", "window-2k")):
            r = setup_with_golden_secrets(cls.dir, shape, circuit)
            assert r.returncode == 0, r.stderr
            assert "INSECURE" in r.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    @classmethod
    def golden_vk(cls, shape):
        """Put a golden verifying key where verify looks for it."""
        with open(os.path.join(FILECOIN, "params", shape + ".json")) as f:
            name = json.load(f)["vk_file"]
        shutil.copy(os.path.join(FILECOIN, "params", shape + ".vk"), os.path.join(cls.params, name))

    def path(self, name):
        return os.path.join(self.dir, name)

    def bad(self, r, *words, code=2):
        """Exit code, exactly one line on standard error beside progress, and the words in it."""
        self.assertEqual(r.returncode, code, r.stderr)
        lines = [l for l in r.stderr.splitlines()
                 if not l.startswith("INSECURE") and not PROGRESS.match(l)]
        self.assertEqual(len(lines), 1, r.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def prove(self, kind, job, out, *more):
        folder = os.path.join(FILECOIN, job)
        return run("prove", kind, "--vanilla", os.path.join(folder, "vanilla.json"), "--meta",
                   os.path.join(folder, "meta.json"), "--params", self.params, "--out",
                   self.path(out), *more)

    def verify(self, kind, job, proof, *more):
        return run("verify", kind, "--meta", os.path.join(FILECOIN, job, "meta.json"), "--proof",
                   proof, "--params", self.params, *more)
