"""The cuzk command line: whole runs on small circuits, exit codes, and what comes out."""
import hashlib
import json
import os
import pty
import re
import subprocess
import sys
import time
import unittest

from cli_case import CUZK, FILECOIN, CliCase, run


class Cli(CliCase):
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

    def test_device_names(self):
        out = self.path("device-params")
        setup = ("setup", "--circuit", "window-2k", "--out", out, "--device")
        for name in ("gpu", "cuda:", "cuda0", "cuda@1GiB@", "cpu@1GiB"):
            self.bad(run(*setup, name), "device '%s'" % name)
        for name in ("cuda@", "cuda:0@16GB", "cuda:1@-1MiB", "cuda@0", "cuda@99999999999GiB",
                     "0@16GB", "auto@x"):
            self.bad(run(*setup, name), "is not a size")
        for limit in ("", "16", "-1GiB", "16GiB@", "0GiB"):
            r = run(*setup, "cpu", "--vram-limit", limit)
            if limit == "16":  # bytes; the CPU has no limit
                self.assertEqual(r.returncode, 0, r.stderr)
            else:
                self.bad(r, "--vram-limit")
        if "\nGPU " not in run("doctor").stdout:  # asking for a GPU never falls back
            self.assertNotEqual(run(*setup, "cuda").returncode, 0)
            self.assertNotEqual(run(*setup, "cuda:3").returncode, 0)
            self.assertNotEqual(run(*setup, "3@16GiB").returncode, 0)
        self.assertEqual(run(*setup, "cpu").returncode, 0)

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
        self.golden_vk("porep-2KiB")
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

    def test_one_file_for_each_vanilla_proof(self):
        folder = os.path.join(FILECOIN, "window-2k")
        options = []
        for k in range(3):
            options += ["--vanilla", os.path.join(folder, f"vanilla-{k}.bin")]
        r = run("prove", "window", *options, "--meta", os.path.join(folder, "meta.json"),
                "--params", self.params, "--out", self.path("three.proof"), "--threads", "1")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(self.verify("window", "window-2k", self.path("three.proof")).returncode, 0)

    def test_a_bar_shows_progress_on_a_terminal(self):
        """One bar that only grows, drawn in place, and complete at the end."""
        winning = os.path.join(FILECOIN, "winning-2k")
        ours, theirs = pty.openpty()
        start = time.monotonic()
        p = subprocess.Popen(
            [CUZK, "prove", "winning", "--vanilla", os.path.join(winning, "vanilla.json"),
             "--meta", os.path.join(winning, "meta.json"), "--params", self.params, "--out",
             self.path("bar.proof"), "--threads", "1"], stderr=theirs)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            text += piece
        os.close(ours)
        self.assertEqual(p.wait(), 0, text)
        if time.monotonic() - start < 1.2:
            self.skipTest("done within a second: no bar is drawn")
        shown = [int(n) for n in re.findall(rb"\rprove +\[[#.]{40}\] +(\d+)%", text)]
        self.assertEqual(shown, sorted(shown))
        self.assertEqual(shown[-1], 100)
        self.assertTrue(len(shown) > 1, shown)

    def test_verify_snap(self):
        self.golden_vk("update-2KiB")
        proof = os.path.join(FILECOIN, "prove", "snap-2k.proof.bin")
        r = self.verify("snap", "snap-2k", proof)
        self.assertEqual((r.returncode, r.stdout), (0, "valid: 1 partition\n"), r.stderr)
        with open(os.path.join(FILECOIN, "snap-2k", "meta.json")) as f:
            meta = json.load(f)
        meta["comm_d_new"] = "01" + meta["comm_d_new"][2:]
        with open(self.path("other-snap.json"), "w") as f:
            json.dump(meta, f)
        r = run("verify", "snap", "--meta", self.path("other-snap.json"), "--proof", proof,
                "--params", self.params)
        self.bad(r, proof, code=1)

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

    def test_poseidon_variant_of_an_update(self):
        out, meta, params = self.path("p.json"), self.path("p.meta.json"), self.path("p-params")
        proof = self.path("p.proof")
        r = run("synth", "snap", "--poseidon", "--sector-size", "16KiB", "--out", out, "--meta", meta,
                "--seed", "08" * 32)
        self.assertEqual(r.returncode, 0, r.stderr)
        with open(out) as f:
            self.assertEqual(len(json.load(f)), 1)  # one partition
        r = run("setup", "--circuit", "snap-poseidon-16k", "--out", params)
        self.assertEqual(r.returncode, 0, r.stderr)
        job = ("--meta", meta, "--params", params)
        r = run("prove", "snap", "--poseidon", "--vanilla", out, *job, "--out", proof)
        self.assertEqual(r.returncode, 0, r.stderr)
        r = run("verify", "snap", "--poseidon", "--proof", proof, *job)
        self.assertEqual(r.returncode, 0, r.stderr)
        # without the option it is a proof of another circuit
        self.bad(run("prove", "snap", "--vanilla", out, *job, "--out", proof), out, "partitions")
        self.bad(run("prove", "snap", "--poseidon", "--vanilla", out, "--meta", meta, "--daemon",
                     "unix://" + self.path("none")), "--poseidon", "not for --daemon")
        with open(meta) as f:
            public = json.load(f)
        public["comm_d_new"] = "01" + public["comm_d_new"][2:]
        with open(meta, "w") as f:
            json.dump(public, f)
        self.bad(run("prove", "snap", "--poseidon", "--vanilla", out, *job, "--out", proof),
                 "proof_d_new")
        r = run("verify", "snap", "--poseidon", "--proof", proof, *job)
        self.assertEqual(r.returncode, 1, r.stderr)

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
