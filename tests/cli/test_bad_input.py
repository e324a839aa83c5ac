"""Bad input to the cuzk command line: exit code 2, one line that names file and place, and nothing
left behind."""
import base64
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from cli_case import CUZK, FILECOIN, CliCase, run


class BadInput(CliCase):
    def test_missing_parameters_are_named_and_not_made(self):
        empty = self.path("empty")
        os.makedirs(empty, exist_ok=True)
        r = run("prove", "winning", "--vanilla",
                os.path.join(FILECOIN, "winning-2k", "vanilla.json"), "--meta",
                os.path.join(FILECOIN, "winning-2k", "meta.json"), "--params", empty)
        self.bad(r, "no parameters of winning-2k in " + empty, "v28-proof-of-spacetime-fallback",
                 ".params")
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

    # ---- output ----

    def left_over(self, folder):
        return sorted(os.listdir(folder))

    def test_full_disk(self):
        """A file size limit stands for a full disk: nothing half-written stays, nor the folder."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        target = self.path("small-disk")
        os.makedirs(target)
        winning = os.path.join(FILECOIN, "winning-2k")
        out = os.path.join(target, "out.json")
        for command in (
                ("setup", "--circuit", "window-2k", "--out", os.path.join(target, "params")),
                ("prove", "winning", "--vanilla", os.path.join(winning, "vanilla.json"), "--meta",
                 os.path.join(winning, "meta.json"), "--params", self.params, "--out", out),
                ("circuit", "--circuit", "window-2k", "--save", out),
                ("synth", "porep", "--sector-size", "2KiB", "--out", out),
                ("synth", "porep", "--sector-size", "2KiB", "--out", os.path.join(target, "c1.bin")),
                ("synth", "winning", "--sector-size", "2KiB", "--out", out, "--meta", out + "2"),
                ("synth", "snap", "--sector-size", "2KiB", "--out", out, "--meta", out + "2")):
            r = run(*command, preexec=limit)
            self.bad(r, target, "write")
            self.assertEqual(r.stdout, "", command)
            self.assertEqual(self.left_over(target), [], command)

    def test_standard_output_is_full(self):
        with open("/dev/full", "w") as full:
            for command in (("circuit", "--circuit", "window-2k", "--json"), ("--help",)):
                r = subprocess.run([CUZK, *command], stdout=full, stderr=subprocess.PIPE, text=True)
                self.bad(r, "standard output", "No space")

    def test_output_folder_is_missing(self):
        self.bad(self.prove("winning", "winning-2k", "no/such/folder/proof"), "no/such/folder")
        self.bad(run("setup", "--circuit", "window-2k", "--out", self.path("no/such/folder")),
                 "no/such/folder")
        self.bad(run("circuit", "--circuit", "window-2k", "--save", self.path("no/such/file")),
                 "no/such/file")

    def test_special_files_are_not_replaced(self):
        link, pipe = self.path("null"), self.path("pipe")
        os.symlink("/dev/null", link)
        os.mkfifo(pipe)
        for target in (link, pipe):
            self.bad(run("synth", "porep", "--sector-size", "2KiB", "--out", target), target,
                     "not a regular file")
        self.assertEqual(os.readlink(link), "/dev/null")

    def test_set_up_with_a_bad_option_makes_no_folder(self):
        target = self.path("not-made")
        self.bad(run("setup", "--circuit", "window-2k", "--out", target, "--seed", "00"), "--seed")
        self.bad(run("setup", "--circuit", "window-2k", "--out", target, "--secrets",
                     self.path("nothing")), "nothing")
        self.assertFalse(os.path.exists(target))

    def test_interrupted(self):
        """SIGINT in the middle: exit code 1, one line, and no file of the run is left."""
        target = self.path("interrupted")
        p = subprocess.Popen([CUZK, "setup", "--circuit", "snap-2k", "--out", target],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while p.poll() is None and not any(".params.tmp." in n for n in (
                os.listdir(target) if os.path.isdir(target) else [])):
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        _, text = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 1, text)
        self.assertIn("cancelled", text.splitlines()[-1])
        self.assertFalse(os.path.exists(target))

    # ---- PoSt and SnapDeals ----

    def altered_meta(self, job, change):
        with open(os.path.join(FILECOIN, job, "meta.json")) as f:
            meta = json.load(f)
        change(meta)
        with open(self.path("altered.json"), "w") as f:
            json.dump(meta, f)
        return self.path("altered.json")

    def test_public_data(self):
        vanilla = os.path.join(FILECOIN, "window-2k", "vanilla.json")

        def attempt(change, *words):
            meta = self.altered_meta("window-2k", change)
            self.bad(run("prove", "window", "--vanilla", vanilla, "--meta", meta, "--params",
                         self.params), *words)

        attempt(lambda m: m.update(randomness=m["randomness"][2:]), "altered.json", "randomness",
                "64 hex digits")
        attempt(lambda m: m.update(randomness="ff" * 32), "randomness", "modulus")
        attempt(lambda m: m.update(randomness="01" * 31 + "00"), vanilla, "inclusion_proofs[0]")
        attempt(lambda m: m["sectors"].append(m["sectors"][0]), "3 vanilla proofs for 4 sectors")
        attempt(lambda m: m["sectors"].pop(), "3 vanilla proofs for 2 sectors")
        attempt(lambda m: m.update(sectors=[]), "sectors")
        attempt(lambda m: m["sectors"][1].update(comm_r="ff" * 32), "sectors[1].comm_r")
        attempt(lambda m: m["sectors"][1].update(comm_r="01" * 31 + "00"), "vanilla proof 1")
        attempt(lambda m: m["sectors"][1].pop("comm_r"), "sectors[1]")
        attempt(lambda m: m.update(sector_size=8 << 20), "sector_size")
        attempt(lambda m: m.update(registered_proof=11, sector_size=8 << 20), vanilla, "8MiB")
        attempt(lambda m: m.update(registered_proof="StackedDrgWinning2KiBV1"), "expected window")

    def test_vanilla_proofs_of_other_lengths(self):
        folder = os.path.join(FILECOIN, "window-2k")
        with open(os.path.join(folder, "vanilla-1.bin"), "rb") as f:
            data = f.read()
        last = (b"\xff" * 32, "not below the field's modulus")
        for changed, word in ((data + b"x", "trailing bytes"), (data[:-1], "truncated"),
                              (b"", "truncated"), (data[:-32] + last[0], last[1])):
            with open(self.path("changed.bin"), "wb") as f:
                f.write(changed)
            r = run("prove", "window", "--vanilla", os.path.join(folder, "vanilla-0.bin"),
                    "--vanilla", self.path("changed.bin"), "--vanilla",
                    os.path.join(folder, "vanilla-2.bin"), "--meta",
                    os.path.join(folder, "meta.json"), "--params", self.params)
            self.bad(r, "vanilla proof 1", word)
        with open(os.path.join(folder, "vanilla.json")) as f:
            blobs = json.load(f)
        for bad, word in ((blobs[:2] + ["!"], "[2]"), (blobs[:2] + [7], "[2]"),
                          (blobs[:2] + [base64.b64encode(b"x").decode()], "vanilla proof 2")):
            with open(self.path("changed.json"), "w") as f:
                json.dump(bad, f)
            r = run("prove", "window", "--vanilla", self.path("changed.json"), "--meta",
                    os.path.join(folder, "meta.json"), "--params", self.params)
            self.bad(r, self.path("changed.json"), word)

    def test_winning(self):
        folder = os.path.join(FILECOIN, "winning-2k")
        vanilla = os.path.join(folder, "vanilla.json")

        def attempt(v, change, *words):
            meta = self.altered_meta("winning-2k", change)
            self.bad(run("prove", "winning", "--vanilla", v, "--meta", meta, "--params",
                         self.params), *words)

        with open(vanilla) as f:
            blobs = json.load(f)
        with open(self.path("twice.json"), "w") as f:
            json.dump(blobs * 2, f)
        attempt(self.path("twice.json"), lambda m: None, "exactly one expected, got 2")
        attempt(os.path.join(FILECOIN, "window-2k", "vanilla-0.bin"), lambda m: None,
                "vanilla proof 0", "truncated")
        attempt(vanilla, lambda m: m["sectors"].append(m["sectors"][0]), "sectors",
                "exactly one expected, got 2")
        attempt(vanilla, lambda m: m.update(randomness=m["randomness"] + "00"), "randomness",
                "64 hex digits")
        attempt(vanilla, lambda m: m.update(randomness="ff" * 32), "randomness", "modulus")
        attempt(vanilla, lambda m: m.update(registered_proof=1, sector_size=8 << 20),
                "vanilla proof 0", "8MiB")
        attempt(vanilla, lambda m: m.update(registered_proof=10), "expected winning")

    def test_snap(self):
        folder = os.path.join(FILECOIN, "snap-2k")
        vanilla, meta = os.path.join(folder, "vanilla.json"), os.path.join(folder, "meta.json")

        def attempt(v, m, *words):
            self.bad(run("prove", "snap", "--vanilla", v, "--meta", m, "--params", self.params),
                     *words)

        with open(vanilla) as f:
            blobs = json.load(f)
        with open(self.path("twice.json"), "w") as f:
            json.dump(blobs * 2, f)
        attempt(self.path("twice.json"), meta, "1 partitions, got 2")
        with open(os.path.join(folder, "vanilla-0.bin"), "rb") as f:
            data = f.read()
        for changed, word in ((data + b"x", "trailing bytes"), (data[:-1], "truncated"),
                              (data[:32] + b"\xff" + data[33:], "apex_leafs"),
                              (b"\xff" * 32 + data[32:], "comm_c")):
            with open(self.path("changed.bin"), "wb") as f:
                f.write(changed)
            attempt(self.path("changed.bin"), meta, "vanilla proof 0", word)
        attempt(vanilla, self.altered_meta("snap-2k", lambda m: m.update(
            registered_proof=1, sector_size=8 << 20)), "8MiB sector has 4 partitions, got 1")
        attempt(os.path.join(FILECOIN, "window-2k", "vanilla.json"), meta, "window-2k")
        for name in ("comm_r_old", "comm_r_new", "comm_d_new"):
            attempt(vanilla, self.altered_meta("snap-2k", lambda m: m.update({name: "ff" * 32})),
                    name, "modulus")
            attempt(vanilla, self.altered_meta("snap-2k", lambda m: m.pop(name)), name, "missing")
            other = self.altered_meta("snap-2k", lambda m: m.update({name: "01" * 31 + "00"}))
            attempt(vanilla, other, vanilla, "vanilla proof 0")
        attempt(vanilla, meta, self.params, "empty-sector-update")  # no parameters for it

    # ---- parameters ----

    def test_each_section_of_a_parameter_file(self):
        """Damage that the layout shows is refused at load, a bad point when it is met; nothing
        that is damaged gives a proof."""
        with open(os.path.join(FILECOIN, "params", "window-2KiB.json")) as f:
            golden = json.load(f)
        with open(os.path.join(self.params, golden["params_file"]), "rb") as f:
            good = f.read()
        folder = self.path("damaged")
        os.makedirs(folder)
        target = os.path.join(folder, golden["params_file"])

        def attempt(data, *words, shown_by=("inspect", "--no-digest")):
            with open(target, "wb") as f:
                f.write(data)
            window = os.path.join(FILECOIN, "window-2k")
            r = run("prove", "window", "--vanilla", os.path.join(window, "vanilla.json"), "--meta",
                    os.path.join(window, "meta.json"), "--params", folder, "--out",
                    self.path("never"))
            self.bad(r, target, *words)
            if shown_by:
                self.bad(run(*shown_by, target), target, *words)
            self.assertFalse(os.path.exists(self.path("never")))

        def flipped(at, mask):
            data = bytearray(good)
            data[at] ^= mask
            return bytes(data)

        attempt(flipped(5, 1), "alpha_g1")
        attempt(flipped(868 + 96 * 22 + 50, 1), "ic[22]")
        for name, section in golden["sections"].items():
            at = section["offset"] + (868 - 4 if name == "vk" else 0)
            attempt(flipped(at, 0x40))  # the count
            attempt(good[:at + 5])
            if name != "vk":
                # the flags of the first point; h is the first that a check of all points meets
                attempt(flipped(at + 4, 0x20), name,
                        shown_by=("inspect", "--no-digest", "--check") if name == "h" else None)
        attempt(good[:-1])
        attempt(good + b"x")
        attempt(b"\xff" * len(good))

    def test_parameters_whose_point_is_wrong(self):
        """A point that is another one of the group is found by the verification of the proof."""
        with open(os.path.join(FILECOIN, "params", "window-2KiB.json")) as f:
            golden = json.load(f)
        with open(os.path.join(self.params, golden["params_file"]), "rb") as f:
            data = bytearray(f.read())
        at = golden["sections"]["h"]["offset"] + 4
        data[at:at + 96], data[at + 96:at + 192] = data[at + 96:at + 192], data[at:at + 96]
        folder = self.path("swapped")
        os.makedirs(folder)
        with open(os.path.join(folder, golden["params_file"]), "wb") as f:
            f.write(data)
        window = os.path.join(FILECOIN, "window-2k")
        r = run("prove", "window", "--vanilla", os.path.join(window, "vanilla.json"), "--meta",
                os.path.join(window, "meta.json"), "--params", folder, "--out", self.path("never"))
        self.bad(r, "does not verify", code=1)
        self.assertFalse(os.path.exists(self.path("never")))

    def test_inspect_says_what_it_does_not_know(self):
        for name in ("winning-2k/vanilla.json", "winning-2k/vanilla-0.bin", "porep-2k/sealed.bin"):
            path = os.path.join(FILECOIN, name)
            self.bad(run("inspect", path), path, "not a C1 output")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
