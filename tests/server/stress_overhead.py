"""What the daemon adds to the bare prover, job by job on the same machine.

stress_overhead.py CUZK [--jobs N] [--porep N]: empty jobs, N jobs of the smallest circuit, and with
--porep also N proofs of porep-2k (its parameters: a minute of one core and 1.1 GB of disk).

The own time of a job is what its client waits beyond the stages that the prover has too: witness,
device, and verification (of the partition, and of the whole proof once more). It holds the reading
and checking of the vanilla proof, which `cuzk prove` counts as loading. It is a few times that one
thread wakes another, so on a machine with more work than cores it says nothing: the figures are
printed then, and the exit code is 77.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

import stress_daemon
import stress_h2 as h2

CONFIG = """
[memory]
total_budget = "6GiB"
[logging]
level = "warn"
"""
POREP, POREP_2K = 1, 5  # ProofKind, RegisteredSealProof StackedDrg2KiBV1_1
MOST_MS, MOST_PERCENT = 5, 1


class Bare:
    """`cuzk prove`, with its own account of where the time went."""

    def __init__(self, binary, *args):
        start = time.monotonic()
        self.report = json.loads(stress_daemon.cuzk(binary, "prove", *args, "--device", "cpu",
                                                    "--json"))
        self.whole_ms = 1000 * (time.monotonic() - start)
        timing = self.report["timings_ms"][0]
        self.verify_ms = 2 * timing["verify"]
        self.prove_ms = 1000 * self.report["prove_s"]
        self.own_ms = self.prove_ms - timing["witness"] - timing["device_total"] - self.verify_ms


class Served:
    """The same by the daemon, its parameters loaded."""

    def __init__(self, client, sample, request_id):
        start = time.monotonic()
        result = stress_daemon.prove(client, sample, request_id)
        self.wall_ms = 1000 * (time.monotonic() - start)
        assert result.get(2) == stress_daemon.COMPLETED, result
        assert sample.verifies(result[3])
        self.stages_ms = result.get(12, 0) + result.get(13, 0)
        self.own_ms = self.wall_ms - self.stages_ms - result.get(11, 0)


class PorepSample(stress_daemon.Sample):
    def __init__(self, binary, folder):
        self.binary, self.params = binary, os.path.join(folder, "params")
        self.meta = os.path.join(folder, "c1.json")
        stress_daemon.cuzk(binary, "synth", "porep", "--sector-size", "2KiB", "--out", self.meta,
                           "--seed", "%064x" % 5)
        with open(self.meta, "rb") as f:
            self.fields = [(2, POREP), (4, POREP_2K), (10, f.read())]

    def verify_args(self):
        return ["porep", "--c1", self.meta]


def line(name, values, unit="ms"):
    print("  %-34s min %8.2f  median %8.2f  max %8.2f %s" %
          (name, min(values), statistics.median(values), max(values), unit), flush=True)


def compare(daemon, sample, prove_args, bare_runs, served_runs, prefix):
    """Bare and served runs, mixed; the own times less verification, and the stages."""
    args = [*prove_args, "--params", sample.params]
    client = daemon.client(timeout=600)
    bare, served = [], []
    for i in range(served_runs):
        if i * bare_runs // served_runs == len(bare):
            bare.append(Bare(daemon.binary, *args))
        cpu = daemon.cpu_seconds()
        served.append(Served(client, sample, "%s-%d" % (prefix, i)))
        served[-1].cpu_ms = 1000 * (daemon.cpu_seconds() - cpu)
    client.close()
    served = served[1:]  # the first one loads the parameters
    verify = statistics.median(b.verify_ms for b in bare)
    own = [s.own_ms - verify for s in served]
    line("bare: proof, parameters loaded", [b.prove_ms for b in bare])
    line("bare: outside its stages", [b.own_ms for b in bare])
    line("daemon: proof, seen by the client", [s.wall_ms for s in served])
    line("daemon: core time of a proof", [s.cpu_ms for s in served])
    line("daemon: own time of a job", own)
    return own, [s.stages_ms for s in served]


def empty_jobs(daemon, n):
    """Jobs that end as soon as they are looked at: received, spooled, journalled, taken up, ended,
    journalled, answered."""
    client, times = daemon.client(), []
    for i in range(n):
        request = h2.pb((1, "empty-%d" % i), (2, stress_daemon.WINDOW_POST), (11, b"no proof"))
        start = time.monotonic()
        result = h2.unpb(h2.unpb(client.call("Prove", h2.pb((1, request))))[1])
        times.append(1000 * (time.monotonic() - start))
        assert result.get(2) == stress_daemon.FAILED, result
    client.close()
    print("%d empty jobs one after another:" % n)
    line("daemon: job, seen by the client", times)
    return statistics.median(times) < MOST_MS


def small_jobs(daemon, folder, n):
    stress_daemon.make_params(daemon.binary, folder)
    sample = stress_daemon.Sample(daemon.binary, folder, 0)
    print("window-2k, %d jobs one after another:" % n)
    vanilla = sample.meta.replace("meta", "vanilla")
    compare(daemon, sample, ["window", "--vanilla", vanilla, "--meta", sample.meta], 5, n + 1,
            "small")


def porep_jobs(daemon, folder, n):
    stress_daemon.make_params(daemon.binary, folder, "porep-2k")
    sample = PorepSample(daemon.binary, folder)
    print("porep-2k, %d jobs one after another:" % n)
    own, stages = compare(daemon, sample, ["porep", "--c1", sample.meta], n, n + 1, "porep")
    parts = [100 * o / s for o, s in zip(own, stages)]
    line("daemon: own time of the stages'", parts, "%")
    return statistics.median(parts) < MOST_PERCENT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cuzk")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--porep", type=int, default=int(os.environ.get("CUZK_STRESS_POREP", 0)))
    parser.add_argument("--sanitized", action="store_true", help="no bounds on time")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="cuzk-stress-")
    daemon = stress_daemon.Daemon(args.cuzk, folder, CONFIG)
    try:
        daemon.start()
        daemon.wait_ready()
        good = empty_jobs(daemon, 10 * args.jobs)
        small_jobs(daemon, folder, args.jobs)
        if args.porep > 0:
            good = porep_jobs(daemon, folder, args.porep) and good
        assert daemon.stop() == 0, daemon.last_words()
        if not good and not args.sanitized:
            busy = os.getloadavg()[0] > 1.5 * os.cpu_count()
            print("too much" + (", but other work was in the way" if busy else ""))
            sys.exit(77 if busy else 1)
    finally:
        if daemon.alive():
            daemon.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
