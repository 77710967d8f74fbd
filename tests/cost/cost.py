#!/usr/bin/env python3
"""Sends mails through the stack on the emulator, counts every call to AWS, and prints what that costs.

Run it by tests/cost/run. It ends with 1 when a mail is lost; what it costs fails nothing, unless
`--budget` is given.
"""

import argparse
import pathlib
import pickle
import signal
import sys
import time

from bill import PRICES, WORKERS, idle, of_mails
from duration import milliseconds
from show import calls, monthly, per_million, rows_of_copies, shape
from stage import Stage, template

from stack import functions, translated


def arguments():
    asked = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    asked.add_argument("--functions", default="target/lambda", help="built functions: NAME or NAME/bootstrap")
    asked.add_argument("--posthaste", default="target/debug/posthaste", help="the operator's binary")
    asked.add_argument("--profile", default="dev", help="cargo's profile of the functions; only said, not used")
    asked.add_argument("--mails", type=int, default=10_000, help="a tenth of them ten to a request")
    asked.add_argument("--alone", type=int, default=100, help="mails sent one after another before that")
    asked.add_argument("--relay", default="smtp", choices=["smtp", "ses"], help="ses: with the events that it sends")
    asked.add_argument("--connections", type=int, default=8)
    asked.add_argument("--rate", type=float, default=100, help="mails a second, for what X-Ray samples of a stream")
    asked.add_argument("--tracing", action="store_true", help="bill X-Ray too, as with the parameter Tracing=Active")
    asked.add_argument("--relay-ms", type=int, default=50, help="what a relay takes for the mails of a batch, assumed")
    asked.add_argument("--webhook-ms", type=int, default=150, help="what a webhook takes for a post, assumed")
    asked.add_argument("--architecture", default="x86_64", choices=["x86_64", "arm64"])
    asked.add_argument("--budget", type=float, help="dollars per million mails of a stream; above it is a failure")
    asked.add_argument("--save", help="file for what was counted, after each part")
    asked.add_argument("--counted", help="such a file of an earlier run, instead of a run: for other prices")
    asked.add_argument("--address", help="a public address that leads to this machine")
    return asked.parse_args()


def step(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def memory():
    """Megabytes by function, from the template."""
    source = template()
    default = source["Globals"]["Function"]["MemorySize"]
    return {
        binary: source["Resources"][name]["Properties"].get("MemorySize", default)
        for name, binary in functions(source).items()
    }


def run(asked):
    binaries, posthaste = (pathlib.Path(path).resolve() for path in (asked.functions, asked.posthaste))
    stage = Stage(binaries, posthaste, asked.address, asked.relay == "ses")
    try:
        step(f"deployed: {len(stage.resources)} resources")
        stage.prepare()
        stage.one_by_one(5)
        stage.forget()
        in_tens = asked.mails // 100
        single = asked.mails - 10 * in_tens
        kinds = [
            ("alone", asked.alone, 1, lambda: stage.one_by_one(asked.alone)),
            ("stream", single, 1, lambda: stage.held(single, 1, asked.connections)),
            ("tens", in_tens, 10, lambda: stage.held(in_tens, 10, asked.connections)),
        ]
        parts = []
        for name, requests, each, go in kinds:
            part = stage.part(name, requests, requests * each, go)
            step(f"{name}: {part.copies} mails in {part.requests} requests passed in {part.seconds:.0f} s")
            parts.append(part)
            if asked.save:
                pathlib.Path(asked.save).write_bytes(pickle.dumps(parts))
        return parts
    except BaseException:
        print(stage.emulator.log.read_text(errors="replace")[-4000:])
        raise
    finally:
        stage.close()


def of_a_sweep(parts, took, memory, architecture):
    """What one sweep uses, on average over those that ran meanwhile."""
    ran = [part for part in parts if "schedule-sweep" in part.journals]
    journals = [part.journals["schedule-sweep"] for part in ran]
    uses = [use for part in parts for use in part.of("schedule-sweep").values()]
    runs = sum(len(journal.billed) for journal in journals)
    if not runs:
        sys.exit("no sweep ran meanwhile: send more mails")
    billed = sum(len(p.journals["schedule-sweep"].billed) * took[p.name]["schedule-sweep"] for p in ran)
    return {
        "runs": runs,
        "gb_second_price": f"lambda_gb_second_{architecture}",
        "gb_seconds": billed / 1000 * memory["schedule-sweep"] / 1024 / runs,
        "writes": sum(use.writes for use in uses) / runs,
        "reads": sum(use.reads for use in uses) / runs,
        "units": sum(use.units for use in uses) / runs,
        "log_bytes": sum(journal.bytes for journal in journals) / runs,
        "metrics": set().union(*(journal.metrics for journal in journals)),
    }


def main():
    asked = arguments()
    # So that whoever stops it leaves no emulator behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    if asked.counted:
        parts = pickle.loads(pathlib.Path(asked.counted).read_bytes())
    else:
        parts = run(asked)
    sizes = memory()
    calls(parts)
    rows_of_copies(parts)
    answers = {"delivery": asked.relay_ms, "webhook-fanout": asked.webhook_ms}
    took = {
        p.name: {f: milliseconds(p, f, sizes, parts[0], answers) for f in (*WORKERS, "schedule-sweep") if f in p.journals}
        for p in parts
    }
    shape(parts, took, sizes)
    # One that comes alone is a million in a month: no two in the same second.
    rates = {"alone": 1_000_000 / (730 * 3600)}
    bills = {
        p.name: of_mails(p, took[p.name], sizes, asked.architecture, rates.get(p.name, asked.rate)) for p in parts
    }
    idles = idle(translated("http://localhost"), of_a_sweep(parts, took, sizes, asked.architecture))
    if not asked.tracing:
        bills = {name: [line for line in lines if line.service != "X-Ray"] for name, lines in bills.items()}
        idles = [(name, line) for name, line in idles if line.service != "X-Ray"]
    per_million(bills, PRICES, asked)
    used = set().union(*(p.journals[f].metrics for p in parts for f in WORKERS if f in p.journals))
    monthly(idles, used, PRICES)
    stream = sum(line.dollars for line in bills["stream"])
    if asked.budget is not None and stream > asked.budget:
        sys.exit(f"a million mails cost ${stream:.2f}, above the budget of ${asked.budget:.2f}")


if __name__ == "__main__":
    main()
