"""An instance of Debian's postfix of our own: it listens nowhere and relays all it is given to one port."""

import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
myhostname = mail.example.com
mydestination =
local_recipient_maps =
alias_maps =
alias_database =
relayhost = [{name}]:{port}
smtp_dns_support_level = disabled
smtp_tls_security_level = none
inet_protocols = ipv4
minimal_backoff_time = 5s
queue_run_delay = 5s
"""

MASTER = """
postlog   unix-dgram n - n - 1 postlogd
pickup    unix n - n 1 1 pickup
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
tlsmgr    unix - - n 1000? 1 tlsmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
flush     unix n - n 1000? 0 flush
proxymap  unix - - n - - proxymap
smtp      unix - - n - - smtp
relay     unix - - n - - smtp
showq     unix n - n - - showq
error     unix - - n - - error
retry     unix - - n - - error
discard   unix - - n - - discard
scache    unix - - n - 1 scache
"""


def missing():
    """Why there can be no instance; nothing when there can."""
    if os.geteuid() != 0:
        return "postfix starts for root only"
    if not shutil.which("postfix", path=os.environ["PATH"] + ":/usr/sbin"):
        return "postfix is not here and cannot be installed"
    return None


class Postfix:
    """A running instance."""

    def __init__(self, folder):
        self.folder = folder

    def send(self, sender, recipients, raw):
        """Hands a mail to the queue, as programs do on a server."""
        # Lines of the local kind: the sendmail command turns them into those of SMTP.
        command = ["sendmail", "-C", self.folder, "-B", "8BITMIME", "-i", "-f", sender, "--", *recipients]
        subprocess.run(command, input=raw.replace(b"\r\n", b"\n"), check=True, env=self.environment)

    @property
    def environment(self):
        return {**os.environ, "MAIL_CONFIG": self.folder, "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def command(self, word):
        command = ["postfix", "-c", self.folder, word]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment)

    def log(self):
        file = pathlib.Path(self.folder, "log")
        return file.read_text(errors="replace") if file.exists() else ""


@contextlib.contextmanager
def postfix(name, port):
    """An instance that relays to this port, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="posthaste-postfix-") as folder:
        os.chmod(folder, 0o755)
        root = pathlib.Path(folder)
        (root / "main.cf").write_text(MAIN.format(folder=folder, name=name, port=port))
        (root / "master.cf").write_text(MASTER)
        (root / "spool").mkdir()
        (root / "data").mkdir()
        owner = pwd.getpwnam("postfix")
        os.chown(root / "data", owner.pw_uid, owner.pw_gid)
        instance = Postfix(folder)
        said = instance.command("start")
        assert said.returncode == 0, said.stdout + said.stderr + instance.log()
        try:
            yield instance
        finally:
            instance.command("stop")
