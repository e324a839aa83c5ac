"""The cuzk command line: whole runs on small circuits, exit codes, and what bad input says."""
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

CUZK, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FILECOIN = os.path.join(DATA, "filecoin")
VECTORS = os.path.join(DATA, "vectors")


def run(*args, cwd=None, preexec=None):
    return subprocess.run([CUZK, *args], capture_output=True, text=True, cwd=cwd, timeout=600,
                          preexec_fn=preexec)


def toxic_secrets(shape, path):
    with open(os.path.join(FILECOIN, "params", shape + ".json")) as f:
        toxic = json.load(f)["toxic"]
    with open(path, "w") as f:
        json.dump(toxic, f)


class Cli(unittest.TestCase):
    """One set of winning-2k and window-2k parameters, made from the golden data's secrets."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="cuzk-cli-")
        cls.params = os.path.join(cls.dir, "params")
        for shape, circuit in (("winning-2KiB", "winning-2k"), ("window-2KiB", "window-2k")):
            secrets = os.path.join(cls.dir, shape + ".secrets.json")
            toxic_secrets(shape, secrets)
            r = run("setup", "--circuit", circuit, "--out", cls.params, "--secrets", secrets)
            assert r.returncode == 0, r.stderr
            assert "INSECURE" in r.stderr

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def bad(self, r, *words, code=2):
        """Exit code, exactly one line on standard error, and the words in it."""
        self.assertEqual(r.returncode, code, r.stderr)
        lines = [l for l in r.stderr.splitlines() if not l.startswith("INSECURE")]
        self.assertEqual(len(lines), 1, r.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    # ---- general ----

    def test_version_and_help(self):
        self.assertTrue(run("--version").stdout.startswith("cuzk "))
        self.assertIn("prove porep", run("--help").stdout)
        for command in ("setup", "prove porep", "prove winning", "prove window", "prove snap",
                        "verify porep", "verify winning", "verify window", "verify snap", "inspect",
                        "circuit", "synth porep", "synth winning", "synth window", "synth snap",
                        "bench", "selftest", "doctor"):
            r = run(*command.split(), "--help")
            self.assertEqual(r.returncode, 0, command)
            self.assertTrue(r.stdout.startswith("usage: cuzk " + command), command)

    def test_mistakes_in_arguments(self):
        self.assertEqual(run().returncode, 2)
        self.bad(run("dance"), "unknown command 'dance'")
        self.assertIn("which kind", run("prove").stderr)
        self.bad(run("setup"), "--circuit is needed")
        self.bad(run("setup", "--cirquit", "x"), "unknown option --cirquit")
        self.bad(run("setup", "--circuit"), "--circuit needs a value")
        self.bad(run("circuit", "--circuit", "porep-2k", "--threads", "0"), "--threads", "'0'")
        self.bad(run("circuit", "--circuit", "porep-3k"), "porep-3k")
        self.bad(run("circuit", "--circuit", "winning-2k", "extra"), "'extra'")

    def test_selftest(self):
        r = run("selftest")
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertIn("all known answers are right", r.stdout)

    def test_doctor_needs_no_gpu(self):
        self.assertEqual(run("doctor").returncode, 0)

    # ---- circuits ----

    def test_circuit_digests_are_the_golden_ones(self):
        for shape, circuit in (("winning-2KiB", "winning-2k"), ("window-8MiB", "window-8m")):
            with open(os.path.join(FILECOIN, "r1cs", shape + ".json")) as f:
                golden = json.load(f)
            r = run("circuit", "--circuit", circuit, "--digest", "--json")
            self.assertEqual(r.returncode, 0, r.stderr)
            ours = json.loads(r.stdout)
            for key in ("cache_id", "identifier", "num_inputs", "num_aux", "num_constraints",
                        "num_constraints_without_input_rows", "domain_log2", "nnz", "density",
                        "chunk_constraints", "chunk_sha256", "sha256", "sha256_without_input_rows",
                        "sha256_without_zero_terms", "max_terms", "empty_lcs",
                        "zero_coefficient_terms"):
                self.assertEqual(ours[key], golden[key], (shape, key))

    def test_circuit_cache_file(self):
        cache = self.path("circuit.cache")
        self.assertEqual(run("circuit", "--circuit", "window-2k", "--save", cache).returncode, 0)
        r = run("inspect", cache, "--json")
        self.assertEqual(json.loads(r.stdout)["kind"], "circuit cache")
        with open(cache, "r+b") as f:
            f.seek(os.path.getsize(cache) // 2)
            f.write(b"\xff\xff\xff\xff\xff\xff\xff\xfe")
        self.bad(run("inspect", cache), cache)

    # ---- set-up, prove, verify ----

    def test_parameters_are_the_golden_ones(self):
        with open(os.path.join(FILECOIN, "params", "winning-2KiB.json")) as f:
            golden = json.load(f)
        with open(os.path.join(self.params, golden["params_file"]), "rb") as f:
            self.assertEqual(hashlib.sha256(f.read()).hexdigest(), golden["sha256"])
        notes = [n for n in os.listdir(self.params) if n.endswith(".INSECURE")]
        self.assertEqual(len(notes), 2)

    def prove(self, kind, job, out, *more):
        folder = os.path.join(FILECOIN, job)
        return run("prove", kind, "--vanilla", os.path.join(folder, "vanilla.json"), "--meta",
                   os.path.join(folder, "meta.json"), "--params", self.params, "--out",
                   self.path(out), *more)

    def verify(self, kind, job, proof, *more):
        return run("verify", kind, "--meta", os.path.join(FILECOIN, job, "meta.json"), "--proof",
                   proof, "--params", self.params, *more)

    def test_prove_and_verify_winning_and_window(self):
        for kind, job, partitions in (("winning", "winning-2k", 1), ("window", "window-2k", 2)):
            r = self.prove(kind, job, job + ".proof", "--json")
            self.assertEqual(r.returncode, 0, r.stderr)
            result = json.loads(r.stdout)
            self.assertTrue(result["verified"])
            self.assertIn("CPU", result["device"])
            self.assertEqual(len(result["proof"]), 384 * partitions)
            self.assertEqual(self.verify(kind, job, self.path(job + ".proof")).returncode, 0)
            # fresh r and s: another run gives other bytes
            again = json.loads(self.prove(kind, job, job + ".proof2", "--json").stdout)
            self.assertNotEqual(result["proof"], again["proof"])
            # the golden data's own proof verifies too
            golden = os.path.join(FILECOIN, "prove", job + ".proof.bin")
            self.assertEqual(self.verify(kind, job, golden).returncode, 0)

    def test_fixed_rs_gives_the_golden_bytes(self):
        for kind, job, partitions in (("winning", "winning-2k", 1), ("window", "window-2k", 2)):
            rs = []
            for k in range(partitions):
                with open(os.path.join(FILECOIN, "prove", f"{job}-{k}.json")) as f:
                    golden = json.load(f)
                rs.append({"r": golden["r"], "s": golden["s"]})
            with open(self.path("rs.json"), "w") as f:
                json.dump(rs, f)
            r = self.prove(kind, job, "fixed.proof", "--fixed-rs", self.path("rs.json"))
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("FIXED r and s", r.stderr)
            with open(self.path("fixed.proof"), "rb") as f, open(
                    os.path.join(FILECOIN, "prove", job + ".proof.bin"), "rb") as g:
                self.assertEqual(f.read(), g.read())

    def test_every_flipped_byte_of_a_proof_is_refused(self):
        with open(os.path.join(FILECOIN, "prove", "winning-2k.proof.bin"), "rb") as f:
            proof = f.read()
        for at in range(0, 192, 13):
            broken = bytearray(proof)
            broken[at] ^= 1 << (at % 8)
            with open(self.path("broken.proof"), "wb") as f:
                f.write(broken)
            r = self.verify("winning", "winning-2k", self.path("broken.proof"))
            self.assertIn(r.returncode, (1, 2), at)
        for size in (0, 191, 193, 384):
            with open(self.path("broken.proof"), "wb") as f:
                f.write((proof + proof)[:size])
            self.bad(self.verify("winning", "winning-2k", self.path("broken.proof")),
                     "expected exactly 192")

    def test_a_proof_of_other_public_data_is_not_valid(self):
        with open(os.path.join(FILECOIN, "winning-2k", "meta.json")) as f:
            meta = json.load(f)
        meta["sectors"][0]["comm_r"] = "01" + meta["sectors"][0]["comm_r"][2:]
        with open(self.path("other-meta.json"), "w") as f:
            json.dump(meta, f)
        proof = os.path.join(FILECOIN, "prove", "winning-2k.proof.bin")
        r = run("verify", "winning", "--meta", self.path("other-meta.json"), "--proof", proof,
                "--params", self.params, "--json")
        self.assertEqual(r.returncode, 1)
        self.assertFalse(json.loads(r.stdout)["valid"])

    def test_verify_porep_from_metadata_and_from_c1(self):
        shutil.copy(os.path.join(FILECOIN, "params", "porep-2KiB.vk"), self.params)
        with open(os.path.join(FILECOIN, "params", "porep-2KiB.json")) as f:
            name = json.load(f)["vk_file"]
        os.rename(os.path.join(self.params, "porep-2KiB.vk"), os.path.join(self.params, name))
        for job in ("porep-2k", "porep-2k-synth", "porep-2k-v1"):
            proof = os.path.join(FILECOIN, "prove", job + ".proof.bin")
            for source in (("--meta", "meta.json"), ("--c1", "c1.json"),
                           ("--c1", "c1-wrapper.json")):
                r = run("verify", "porep", source[0], os.path.join(FILECOIN, job, source[1]),
                        "--proof", proof, "--params", self.params)
                self.assertEqual(r.returncode, 0, (job, source, r.stderr))
        # a proof of another sector
        r = run("verify", "porep", "--c1", os.path.join(FILECOIN, "porep-2k", "c1.json"),
                "--proof", os.path.join(FILECOIN, "prove", "porep-2k-v1.proof.bin"), "--params",
                self.params)
        self.bad(r, code=1)

    # ---- bad input ----

    def test_missing_parameters_are_named_and_not_made(self):
        empty = self.path("empty")
        os.makedirs(empty, exist_ok=True)
        r = run("prove", "winning", "--vanilla",
                os.path.join(FILECOIN, "winning-2k", "vanilla.json"), "--meta",
                os.path.join(FILECOIN, "winning-2k", "meta.json"), "--params", empty)
        self.bad(r, empty, "v28-proof-of-spacetime-fallback", ".params")
        self.assertEqual(os.listdir(empty), [])

    def test_missing_unreadable_and_empty_files(self):
        self.bad(run("inspect", self.path("nothing")), self.path("nothing"))
        open(self.path("zero"), "w").close()
        self.bad(run("inspect", self.path("zero")), "empty")
        self.bad(run("inspect", self.dir), self.dir)
        self.bad(run("prove", "porep", "--c1", self.path("nothing"), "--params", self.params),
                 self.path("nothing"))

    def test_damaged_c1_names_the_place(self):
        with open(os.path.join(FILECOIN, "porep-2k", "c1.json")) as f:
            text = f.read()

        def attempt(changed, *words):
            with open(self.path("c1.json"), "w") as f:
                f.write(changed)
            self.bad(run("prove", "porep", "--c1", self.path("c1.json"), "--params", self.params),
                     self.path("c1.json"), *words)

        attempt(text[:len(text) // 2])
        attempt(text + "x")
        attempt(text.replace("StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1", 1))
        attempt(text.replace("StackedDrg2KiBV1_1", "StackedDrg3KiBV1_1", 1), "StackedDrg3KiBV1_1")
        c1 = json.loads(text)
        c1["comm_r"] = [255] * 32
        attempt(json.dumps(c1), "comm_r")
        c1 = json.loads(text)
        proofs = c1["vanilla_proofs"]["StackedDrg2KiBV1"]
        proofs[0][1]["comm_r_last_proof"]["data"]["Single"]["path"]["path"][0]["hashes"][2] = (
            [255] * 32)
        attempt(json.dumps(c1), "comm_r_last_proof", "hashes[2]")
        c1 = json.loads(text)
        c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][0]["labeling_proofs"][0]["node"] = 3
        attempt(json.dumps(c1))
        c1 = json.loads(text)
        leaf = c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][0]["comm_d_proofs"]["data"]["Single"]
        leaf["leaf"][0] ^= 1
        attempt(json.dumps(c1))

    def test_wrong_kind_of_vanilla_proof(self):
        r = run("prove", "winning", "--vanilla",
                os.path.join(FILECOIN, "window-2k", "vanilla.json"), "--meta",
                os.path.join(FILECOIN, "winning-2k", "meta.json"), "--params", self.params)
        self.bad(r, "vanilla.json")
        r = run("prove", "window", "--vanilla",
                os.path.join(FILECOIN, "window-2k", "vanilla-0.bin"), "--meta",
                os.path.join(FILECOIN, "window-2k", "meta.json"), "--params", self.params)
        self.bad(r, "1 vanilla proofs for 3 sectors")

    def test_parameters_of_another_circuit(self):
        mixed = self.path("mixed")
        os.makedirs(mixed, exist_ok=True)
        names = sorted(n for n in os.listdir(self.params) if n.endswith(".params"))
        sizes = {n: os.path.getsize(os.path.join(self.params, n)) for n in names}
        window, winning = sorted(sizes, key=sizes.get)[:2]
        shutil.copy(os.path.join(self.params, window), os.path.join(mixed, winning))
        r = run("prove", "winning", "--vanilla",
                os.path.join(FILECOIN, "winning-2k", "vanilla.json"), "--meta",
                os.path.join(FILECOIN, "winning-2k", "meta.json"), "--params", mixed)
        self.bad(r, winning)

    def test_no_half_written_output(self):
        # a file size limit stands for a full disk
        def limit():
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        target = self.path("small-disk")
        r = run("setup", "--circuit", "window-2k", "--out", target, preexec=limit)
        self.bad(r, target)
        left = [n for n in os.listdir(target) if not n.endswith((".INSECURE", ".meta"))]
        self.assertEqual(left, [])
        r = self.prove("winning", "winning-2k", "no/such/folder/proof")
        self.bad(r, "no/such/folder")

    # ---- inspect and synth ----

    def test_inspect_each_kind(self):
        def kind(path):
            r = run("inspect", path, "--json")
            self.assertEqual(r.returncode, 0, r.stderr)
            return json.loads(r.stdout)

        c1 = kind(os.path.join(FILECOIN, "porep-2k", "c1-wrapper.json"))
        self.assertEqual(c1["kind"], "PoRep C1 output")
        self.assertEqual(c1["registered_proof"], "StackedDrg2KiBV1_1")
        vk = kind(os.path.join(FILECOIN, "params", "winning-2KiB.vk"))
        self.assertEqual((vk["kind"], vk["public_inputs"]), ("Groth16 verifying key", 132))
        self.assertEqual(kind(os.path.join(FILECOIN, "prove", "window-2k.proof.bin"))["partitions"],
                         2)
        params = [n for n in os.listdir(self.params) if n.endswith(".params")][0]
        self.assertEqual(kind(os.path.join(self.params, params))["kind"], "Groth16 parameters")

    def test_synthetic_inputs_are_proven(self):
        for kind in ("winning", "window"):
            out, meta = self.path(kind + ".json"), self.path(kind + ".meta.json")
            r = run("synth", kind, "--sector-size", "2KiB", "--out", out, "--meta", meta, "--seed",
                    "07" * 32)
            self.assertEqual(r.returncode, 0, r.stderr)
            r = run("prove", kind, "--vanilla", out, "--meta", meta, "--params", self.params,
                    "--out", self.path("synth.proof"))
            self.assertEqual(r.returncode, 0, r.stderr)
            r = run("verify", kind, "--meta", meta, "--proof", self.path("synth.proof"),
                    "--params", self.params)
            self.assertEqual(r.returncode, 0, r.stderr)

    def test_synth_porep_in_both_forms(self):
        for name in ("synth.json", "synth.bin"):
            r = run("synth", "porep", "--sector-size", "8MiB", "--out", self.path(name), "--seed",
                    "05" * 32)
            self.assertEqual(r.returncode, 0, r.stderr)
        a, b = (json.loads(run("inspect", self.path(n), "--json").stdout)
                for n in ("synth.json", "synth.bin"))
        self.assertEqual(a["vanilla_proof"], b["vanilla_proof"])
        self.assertEqual(a["comm_r"], b["comm_r"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
