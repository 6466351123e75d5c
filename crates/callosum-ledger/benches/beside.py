"""What the same work costs others: SQLite, the seed's own pseudocode, and jq.

Started by the benchmark `ledger` with a ledger file and the id of an entry in its middle; or with
an id and the ledger files that it is looked for in, for which nothing is appended. Needs nothing
but Python's standard library; jq and sha256sum are asked where they are installed. Every append
is next to that of a plain append and fdatasync of the same bytes, in turns, as the ledger's own
does: the disk's mood is in both.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time


def timed(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


def p50(times):
    return sorted(times)[len(times) // 2]


def append_beside_plain(folder, name, turns, work):
    plain = os.open(os.path.join(folder, "plain-beside"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    payload = b"x" * 4300

    def append_plainly():
        os.write(plain, payload)
        os.fdatasync(plain)

    plains, others = [], []
    for turn in range(turns):
        others.append(timed(lambda: work(turn)))
        plains.append(timed(append_plainly))
    os.close(plain)
    other, beside = p50(others), p50(plains)
    print(f"  {name}: p50 {other:.3f} ms; plain append + fdatasync {beside:.3f} ms; "
          f"ratio {other / beside:.2f}")


def naive_append(path, entry):
    """The seed's pseudocode (CAL 8.1): read, append, rewrite; made durable."""
    with open(path) as file:
        ledger = json.load(file)
    ledger["tasks"].append(entry)
    with open(path + ".new", "w") as file:
        json.dump(ledger, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def look_among(wanted, ledgers):
    path = os.path.join(os.path.dirname(ledgers[0]), "among.sqlite")
    table = sqlite3.connect(path, isolation_level=None)
    table.execute("CREATE TABLE tasks (task_id TEXT PRIMARY KEY, entry TEXT)")
    for ledger in ledgers:
        with open(ledger) as file:
            tasks = json.load(file)["tasks"]
        rows = ((task["task_id"], json.dumps(task)) for task in tasks)
        table.execute("BEGIN")
        table.executemany("INSERT INTO tasks VALUES (?, ?)", rows)
        table.execute("COMMIT")
    table.close()

    def look():
        opened = sqlite3.connect(path)
        opened.execute("SELECT entry FROM tasks WHERE task_id = ?", (wanted,)).fetchone()
        opened.close()

    times = [timed(look) for _ in range(100)]
    print(f"  by SQLite, opened each time, in one process: p50 {p50(times):.3f} ms")
    if shutil.which("jq"):
        question = f'.tasks[] | select(.task_id == "{wanted}")'
        jq = timed(lambda: subprocess.run(["jq", "-c", question, *ledgers], check=True,
                                          stdout=subprocess.DEVNULL))
        print(f"  by jq: {jq:.0f} ms")


def main():
    if len(sys.argv) > 3:
        look_among(sys.argv[1], sys.argv[2:])
        return
    ledger, wanted = sys.argv[1:]
    folder = os.path.dirname(ledger)
    with open(ledger) as file:
        tasks = json.load(file)["tasks"]

    table = sqlite3.connect(os.path.join(folder, "beside.sqlite"), isolation_level=None)
    table.execute("PRAGMA journal_mode = WAL")
    table.execute("PRAGMA synchronous = FULL")
    table.execute("CREATE TABLE tasks (task_id TEXT PRIMARY KEY, entry TEXT)")
    table.execute("BEGIN")
    rows = ((task["task_id"], json.dumps(task)) for task in tasks)
    table.executemany("INSERT INTO tasks VALUES (?, ?)", rows)
    table.execute("COMMIT")
    payload = "x" * 4300
    append_beside_plain(folder, "SQLite, WAL, synchronous=FULL", 300, lambda turn: table.execute(
        "INSERT INTO tasks VALUES (?, ?)", (f"new-{turn}", payload)))

    copy = os.path.join(folder, "naive.json")
    shutil.copy(ledger, copy)
    entry = {"task_id": "cal_2030_01_01_0001", "summary": "x" * 4096}
    turns = 3 if len(tasks) > 1000 else 100
    append_beside_plain(folder, "read, parse, rewrite (Python)", turns,
                        lambda turn: naive_append(copy, entry))

    if not tasks:
        return
    lookup = "SELECT entry FROM tasks WHERE task_id = ?"
    times = [timed(lambda: table.execute(lookup, (wanted,)).fetchone()) for _ in range(20)]
    print(f"  lookup by SQLite: p50 {p50(times):.3f} ms")
    if shutil.which("jq"):
        question = f'.tasks[] | select(.task_id == "{wanted}")'
        jq = timed(lambda: subprocess.run(["jq", "-c", question, ledger], check=True,
                                          stdout=subprocess.DEVNULL))
        print(f"  lookup by jq: {jq:.0f} ms")
    if shutil.which("sha256sum"):
        size = os.path.getsize(ledger) / 1e6
        took = min(timed(lambda: subprocess.run(["sha256sum", ledger], check=True,
                                                stdout=subprocess.DEVNULL)) for _ in range(3))
        print(f"  sha256sum of the ledger file: {size / took * 1e3:.0f} MB/s")


main()
