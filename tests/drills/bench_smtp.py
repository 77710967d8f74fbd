#!/usr/bin/env python3
"""How many mails a second are accepted by SMTP and synced to disk, beside postfix in one run.

Debian's `smtp-source` hands the same mails over the same number of connections to this host
(--submission-open) and to a postfix of the drill's own, in turn; both deliver to the same
`smtp-sink`. Needs Debian's postfix, and root for its processes.

    tests/drills/bench_smtp.py target/release/posthaste
    tests/drills/bench_smtp.py target/release/posthaste --count 20000 --size 2000 --rounds 3

Exit code 1 when fewer than twice as many are accepted as by postfix.
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from local import Host, free_port

MASTER = """\
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
local unix - n n - - local
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""

MAIN = """\
compatibility_level = 3.6
queue_directory = {home}/spool
data_directory = {home}/data
mail_owner = postfix
setgid_group = postdrop
maillog_file = {home}/mail.log
maillog_file_prefixes = {home}
myhostname = bench.example.com
mydestination =
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:{sink}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
disable_dns_lookups = yes
"""


class Postfix:
    """A postfix in a folder of its own."""

    def __init__(self, home, sink):
        self.port, self.home = free_port(), home
        for name in ("etc", "spool", "data"):
            (home / name).mkdir()
        shutil.chown(home / "data", "postfix")
        home.chmod(0o755)
        (home / "etc" / "main.cf").write_text(MAIN.format(home=home, sink=sink))
        (home / "etc" / "master.cf").write_text(MASTER.format(port=self.port))
        self.run("start")
        reachable(self.port)

    def run(self, verb):
        subprocess.run(["postfix", "-c", self.home / "etc", verb], check=True, capture_output=True)

    def stop(self):
        self.run("stop")


def reachable(port):
    end = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def rate(port, args, count):
    """Accepted mails a second."""
    command = ["smtp-source", "-s", str(args.connections), "-m", str(count), "-l", str(args.size)]
    if not args.reconnect:
        command.append("-d")
    command += ["-f", "bench@example.com", "-t", "to@example.com", f"inet:127.0.0.1:{port}"]
    start = time.monotonic()
    subprocess.run(command, check=True)
    return count / (time.monotonic() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=10_000, help="mails of a round (10000)")
    parser.add_argument("--size", type=int, default=2_000, help="octets of a mail's text (2000)")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reconnect", action="store_true", help="a connection for each mail")
    args = parser.parse_args()
    sink_port = free_port()
    sink = subprocess.Popen(["smtp-sink", "-u", "nobody", f"127.0.0.1:{sink_port}", "2048"], stdout=subprocess.DEVNULL)
    reachable(sink_port)
    rates = {"posthaste": [], "postfix": []}
    try:
        for number in range(args.rounds):
            for name in rates:
                # Each alone, so that neither waits for what the other still delivers.
                with tempfile.TemporaryDirectory(prefix="posthaste-bench-") as folder:
                    rates[name].append(measure(name, pathlib.Path(folder), sink_port, args))
                print(f"round {number + 1}: {name:10} {rates[name][-1]:8.0f} mails/s", flush=True)
    finally:
        sink.send_signal(signal.SIGKILL)
        sink.wait()
    ours, theirs = (statistics.median(rates[name]) for name in ("posthaste", "postfix"))
    print(f"\n{'':10} {'mails/s':>8}\n{'posthaste':10} {ours:8.0f}\n{'postfix':10} {theirs:8.0f}\n{'ratio':10} {ours / theirs:8.2f}")
    sys.exit(0 if ours >= 2 * theirs else 1)


def measure(name, folder, sink, args):
    if name == "postfix":
        server = Postfix(folder, sink)
        port, stop = server.port, server.stop
    else:
        server = Host(os.path.abspath(args.binary), str(folder), sink, ["--submission-open"])
        port = int(server.submission.rsplit(":", 1)[1])
        stop = lambda: server.end(signal.SIGTERM)  # noqa: E731
    try:
        rate(port, args, args.count // 10)
        return rate(port, args, args.count)
    finally:
        stop()


if __name__ == "__main__":
    main()
