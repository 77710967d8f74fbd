"""Cases with names; a line for each, and one at the end."""

import secrets
import time
import traceback

CASES = []


def case(name):
    """Marks a function as a case. It gets a `Bench`."""

    def keep(function):
        CASES.append((name, function))
        return function

    return keep


class Bench:
    """What a case works with: clients, the mailbox, and addresses nobody else uses."""

    def __init__(self, options, mailbox, client):
        self.api = options.api
        self.key = options.key
        self.smtp = options.smtp
        self.mailbox = mailbox
        self.client = client
        self.domain = f"{secrets.token_hex(6)}.python.example.com"

    def address(self, local):
        return f"{local}@{self.domain}"

    def copies(self, count):
        """All copies for this case's domain, by recipient."""
        return {
            copy.recipient: copy for copy in self.mailbox.wait(f"rcpt:@{self.domain}", count)
        }


def run(options, bench):
    """Runs the cases whose name holds `options.case`; the number that failed."""
    failed = 0
    chosen = [(name, function) for name, function in CASES if options.case in name]
    chosen.append(("no mail came twice", lambda b: b.mailbox.check_again()))
    for name, function in chosen:
        start = time.monotonic()
        try:
            function(bench())
        except Exception as why:  # any way to fail is a failed case, never the end of the run
            failed += 1
            print(f"FAIL {name}: {why!r:.2000}", flush=True)
            traceback.print_exc()
        else:
            print(f"ok {name} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"end {failed} failed", flush=True)
    return failed


def same(got, want, what=""):
    """Equality that says where two long texts part."""
    if got == want:
        return
    if isinstance(got, (str, bytes)) and isinstance(want, type(got)):
        at = next(
            (i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want))
        )
        context = slice(max(0, at - 30), at + 60)
        raise AssertionError(
            f"{what} differs at {at}: got {got[context]!r}, want {want[context]!r} "
            f"(lengths {len(got)} and {len(want)})"
        )
    raise AssertionError(f"{what}: got {got!r:.1500}, want {want!r:.1500}")
