"""Many small jobs from 50 clients while the daemon is killed (-9) again and again: every job that
was acknowledged ends with exactly one verified proof. Then the same load without crashes: memory
stays flat.

stress_crash.py CUZK [--jobs N] [--kills K] [--steady M] [--seed S]; by default a short run, the
full one of docs/benchmarks/daemon.md is --jobs 1000 --kills 20 --steady 1000.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time

import stress_daemon
import stress_h2 as h2

CLIENTS, SAMPLES, PATIENCE = 50, 5, 1800
# Kills come faster than anything real: a job that is running at each of them is not at fault.
CONFIG = """
[daemon]
job_attempts = 100
[memory]
total_budget = "1GiB"
[logging]
level = "warn"
"""
JOB_COMPLETED = 2  # engine_job_state in the journal


class Load:
    """A number of jobs, the clients that send them, and what they were told."""

    def __init__(self, daemon, samples, prefix, n, seed):
        self.daemon, self.samples, self.n = daemon, samples, n
        self.ids = ["%s-%d" % (prefix, i) for i in range(n)]
        self.seed = seed
        self.lock = threading.Lock()
        self.todo = collections.deque(range(n))
        self.acknowledged, self.proofs, self.wrong = set(), {}, []
        self.lost_calls = 0
        self.until = time.monotonic() + PATIENCE

    def sample(self, i):
        return self.samples[i % len(self.samples)]

    def done(self):
        return len(self.proofs) + len(self.wrong)

    def take_result(self, i, result):
        """True: the job is over."""
        if result.get(2) == stress_daemon.TIMEOUT:
            return False
        with self.lock:
            if result.get(2) != stress_daemon.COMPLETED:
                self.wrong.append((self.ids[i], result.get(2), result.get(4)))
            elif self.proofs.setdefault(i, result[3]) != result[3]:
                self.wrong.append((self.ids[i], "two proofs"))
        return True

    def attempt(self, client, i, at_once):
        if at_once:
            return self.take_result(i, stress_daemon.prove(client, self.sample(i), self.ids[i]))
        if i not in self.acknowledged:
            job_id = stress_daemon.submit(client, self.sample(i), self.ids[i])
            if job_id != self.ids[i]:
                raise AssertionError("job id %s for request %s" % (job_id, self.ids[i]))
            with self.lock:
                self.acknowledged.add(i)
        # From here on it is never sent again: the daemon must know it.
        return self.take_result(i, stress_daemon.wait(client, self.ids[i]))

    def one_client(self, number):
        rng = random.Random("%s %d" % (self.seed, number))
        client = None
        while True:
            with self.lock:
                if not self.todo:
                    break
                i = self.todo.popleft()
            at_once, over = rng.random() < 0.3, False
            while not over:
                if time.monotonic() > self.until:
                    raise AssertionError("%s: out of time" % self.ids[i])
                try:
                    client = client or self.daemon.client(timeout=120)
                    over = self.attempt(client, i, at_once)
                except (h2.Lost, h2.RpcError) as e:
                    if isinstance(e, h2.RpcError) and e.code not in (h2.UNAVAILABLE, h2.CANCELLED):
                        raise AssertionError("%s: %s" % (self.ids[i], e))
                    with self.lock:
                        self.lost_calls += 1
                    if client is not None:
                        client.close()
                    client = None
                    time.sleep(0.02 + 0.1 * rng.random())
        if client is not None:
            client.close()

    def run(self, meanwhile):
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            clients = [pool.submit(self.one_client, k) for k in range(CLIENTS)]
            try:
                meanwhile(self, clients)
            finally:
                if not self.daemon.alive():
                    self.until = 0  # clients give up
            for c in clients:
                c.result()
        assert not self.wrong, self.wrong[:5]
        assert len(self.proofs) == self.n


def killer(kills, rng, log):
    """Kill when a random number of jobs is done, sometimes again while the daemon starts."""
    def meanwhile(load, clients):
        marks = sorted(rng.randrange(load.n * 9 // 10) for _ in range(kills))
        while marks and not all(c.done() for c in clients):
            if load.done() < marks[0]:
                time.sleep(0.01)
                continue
            time.sleep(rng.random() * 0.3)
            load.daemon.kill()
            log.append(load.done())
            marks.pop(0)
            load.daemon.start()
            if marks and rng.random() < 0.25:
                time.sleep(rng.random() * 0.1)
            else:
                load.daemon.wait_ready()
    return meanwhile


def watch_memory(warm, samples):
    def meanwhile(load, clients):
        while not all(c.done() for c in clients):
            if load.done() >= warm:
                samples.append((load.done(), load.daemon.memory()))
            time.sleep(0.05)
    return meanwhile


def check_results(load):
    """The same proof again, from the results that are kept; and each of them verifies."""
    client = load.daemon.client()
    for i in range(load.n):
        load.take_result(i, stress_daemon.wait(client, load.ids[i]))
    client.close()
    assert not load.wrong, load.wrong[:5]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        valid = list(pool.map(lambda i: load.sample(i).verifies(load.proofs[i]), range(load.n)))
    assert all(valid), "%d proofs do not verify" % valid.count(False)
    assert not load.samples[0].verifies(load.proofs[1]), "verify takes another job's proof"


def check_journal(daemon, n):
    """One row for each job, all completed; no body is left behind."""
    db = sqlite3.connect(os.path.join(daemon.state, "journal.db"))
    states = collections.Counter(s for s, in db.execute("SELECT state FROM jobs"))
    db.close()
    assert states == {JOB_COMPLETED: n}, states
    assert os.listdir(os.path.join(daemon.state, "bodies")) == []


def check_flat(samples, what):
    first, last = samples[0][1], max(m for _, m in samples[-len(samples) // 5:])
    growth = last / first - 1
    print("memory: %.1f MiB after %d jobs, at most %.1f MiB in the last fifth: %+.1f %%" %
          (first / 2**20, samples[0][0], last / 2**20, 100 * growth))
    assert growth < 0.05, what + ": memory grows"


def check_memory(samples, jobs):
    """Flat within 5 % after the first hundred jobs; a run with fewer says nothing of growth, and is
    held to a bound that a leak of one witness a job would break."""
    if jobs >= 200:
        check_flat(samples, "steady load")
        return
    most = max(m for _, m in samples)
    print("memory: at most %.1f MiB" % (most / 2**20))
    assert most < 64 << 20, "memory: too much for window-2k jobs"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cuzk")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("CUZK_STRESS_JOBS", 40)))
    parser.add_argument("--kills", type=int, default=int(os.environ.get("CUZK_STRESS_KILLS", 6)))
    parser.add_argument("--steady", type=int, default=int(os.environ.get("CUZK_STRESS_STEADY", 30)))
    parser.add_argument("--seed", default=os.environ.get("CUZK_STRESS_SEED", str(time.time_ns())))
    parser.add_argument("--sanitized", action="store_true", help="no bounds on memory")
    args = parser.parse_args()
    print("seed", args.seed, flush=True)
    folder = tempfile.mkdtemp(prefix="cuzk-stress-")
    daemon = stress_daemon.Daemon(args.cuzk, folder, CONFIG)
    try:
        stress_daemon.make_params(args.cuzk, folder)
        samples = [stress_daemon.Sample(args.cuzk, folder, i) for i in range(SAMPLES)]
        daemon.start()
        daemon.wait_ready()

        start, kills = time.monotonic(), []
        load = Load(daemon, samples, "crash", args.jobs, args.seed)
        load.run(killer(args.kills, random.Random(args.seed), kills))
        print("%d jobs in %.1f s; killed %d times, after %s jobs; %d calls were lost and sent again"
              % (args.jobs, time.monotonic() - start, len(kills), kills, load.lost_calls),
              flush=True)
        assert len(kills) == args.kills
        check_results(load)

        start, memory = time.monotonic(), []
        steady = Load(daemon, samples, "steady", args.steady, args.seed)
        steady.run(watch_memory(min(100, args.steady // 2), memory))
        print("%d jobs in %.1f s without crashes" % (args.steady, time.monotonic() - start))
        if not args.sanitized:
            check_memory(memory, args.steady)
        check_results(steady)

        assert daemon.stop() == 0, daemon.last_words()
        check_journal(daemon, args.jobs + args.steady)
    except BaseException:
        if os.path.exists(daemon.log):
            print(daemon.last_words())
        raise
    finally:
        if daemon.alive():
            daemon.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
