#!/usr/bin/env python3
"""How many calls of the official client libraries' own suites reach a route.

    tests/clients/suite_calls.py [--list] [--min N]

The calls of `suite_calls.txt` are those of the suite of sendgrid-python 6.12.5; the suites of the other libraries make
the same ones. The routes are those of the API reference (`functions/*/reference.json`), which a test holds to the
routers. Calls of the retired marketing groups are counted apart. `--list` names the calls without a route; with
`--min` the exit code is 1 when fewer calls reach one.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RETIRED = ("/v3/contactdb/", "/v3/campaigns")


def shape(call):
    """`GET /v3/ips/{ip}` and `GET /v3/ips/{address}` are the same call."""
    return re.sub(r"\{\w+\}", "{}", call)


def routes(root=ROOT):
    """The calls that the functions serve."""
    for file in sorted(root.glob("functions/*/reference.json")):
        for path, methods in json.loads(file.read_text())["paths"].items():
            for method in methods:
                yield shape(f"{method.upper()} {path}")


def calls(text):
    """The calls of the suites, and whether each belongs to a retired group."""
    for call in text.splitlines():
        yield call, call.split()[1].startswith(RETIRED)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--list", action="store_true", help="name the calls without a route")
    options.add_argument("--min", type=int, default=0, metavar="N", help="exit 1 when fewer calls reach a route")
    given = options.parse_args()
    served = set(routes())
    wanted = dict(calls((HERE / "suite_calls.txt").read_text()))
    missing = [call for call, is_retired in wanted.items() if not is_retired and shape(call) not in served]
    retired = sum(wanted.values())
    reached = sum(shape(call) in served for call in wanted)
    if given.list:
        for call in missing:
            print(f"  no route: {call}")
    print(
        f"suites: {reached} of {len(wanted)} calls reach a route, {len(missing)} do not, "
        f"and {retired} are of the retired groups contactdb and campaigns"
    )
    sys.exit(1 if reached < given.min else 0)


if __name__ == "__main__":
    main()
