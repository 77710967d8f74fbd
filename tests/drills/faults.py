#!/usr/bin/env python3
"""What becomes of mails, callers and alarms when what the service stands on fails.

Each drill hands mails in to the service, lets one thing go wrong for a while, mends it, and waits until
all is done. Most run on the deployed shape (template.yaml on the emulator of tests/stack, whose virtual
environment must be there); those whose name begins with `host` run on the local host, on a clock that runs
thirty times as fast. tests/drills/README.md has the table of what they found.

    tests/.venv/stack/bin/python tests/drills/faults.py queue target/lambda target/debug/posthaste
    tests/.venv/stack/bin/python tests/drills/faults.py all target/lambda target/debug/posthaste

Exit code 1 when an accepted mail neither arrived nor ended in a state that can be seen, when a refusal is
not a 5xx in the contract's shape, or when an alarm that should ring is silent.
"""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stack"))

import faults_aws as aws  # noqa: E402
import faults_host as host  # noqa: E402
import faults_jobs as jobs  # noqa: E402
from report import Report  # noqa: E402
from world import VISIBILITY, World  # noqa: E402

# Each with what its deployment has of its own.
DEPLOYED = {
    "writes": (aws.writes, {}),
    "reads": (aws.reads, {}),
    "table-hangs": (aws.table_hangs, {"timeouts": {"delivery": 20, "webhook-fanout": 20}}),
    "queue": (aws.queue, {}),
    "relay-down": (aws.relay_down, {}),
    "relay-silent": (aws.relay_silent, {"visibility": 60}),
    "timeout": (aws.timeout, {"timeouts": {"delivery": 8}}),
    "bucket-slow": (aws.bucket_slow, {}),
    "bucket-down": (aws.bucket_down, {}),
    "bucket-hangs": (aws.bucket_hangs, {"timeouts": {"delivery": 20}}),
    "poison": (jobs.poison, {}),
    "release": (jobs.release, {}),
    "webhook": (jobs.webhook, {}),
    "late": (jobs.late, {}),
    "clock": (jobs.clock, {}),
}
LOCAL = {"host-hour": host.hour, "host-clock": host.clock}


def run(name, args):
    began = time.monotonic()
    if name in LOCAL:
        report = Report(name, LOCAL[name].__doc__)
        LOCAL[name](report, args)
    else:
        drill, options = DEPLOYED[name]
        # None may end without an answer four times meanwhile and be a dead letter; on AWS it takes half an hour each
        # time.
        options = {**options, "visibility": max(options.get("visibility", VISIBILITY), round(args.seconds / 3))}
        report = Report(name, drill.__doc__)
        world = World(args.binaries.resolve(), args.posthaste.resolve(), **options)
        try:
            drill(world, report, args)
        except BaseException:
            print(world.emulator.log.read_text(errors="replace")[-6000:])
            raise
        finally:
            world.stop()
    report.say("seconds of the drill", round(time.monotonic() - began))
    return report.failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drill", nargs="+", choices=[*DEPLOYED, *LOCAL, "all"], metavar="drill",
                        help=f"{', '.join([*DEPLOYED, *LOCAL])}, or all")
    parser.add_argument("binaries", type=pathlib.Path, help="folder of the functions")
    parser.add_argument("posthaste", type=pathlib.Path, help="the host and the operator's commands")
    parser.add_argument("--rate", type=float, default=10, help="mails a second (10)")
    parser.add_argument("--seconds", type=float, default=20, help="for which something goes wrong (20)")
    args = parser.parse_args()
    names = [*DEPLOYED, *LOCAL] if "all" in args.drill else args.drill
    failed = {name: failures for name in names if (failures := run(name, args))}
    for name, failures in failed.items():
        print(f"FAILED: {name}: {'; '.join(failures)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
