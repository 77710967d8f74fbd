"""The session over HTTPS: a small proxy ends TLS before the service, with a certificate that is made here."""

import contextlib
import http.server
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.parse


def certificate(folder):
    """Paths of a certificate for this machine, which nobody signed, and of its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    return cert, key


def pump(source, target):
    """Copies until either side has enough."""
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Https:
    """Takes HTTPS on a port of its own, and passes it on as HTTP to this address, as it is."""

    def __init__(self, address, cert, key):
        self.upstream = urllib.parse.urlsplit(address)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cert, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"https://localhost:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.passed_on, args=(client,), daemon=True).start()

    def passed_on(self, client):
        with contextlib.suppress(OSError), self.context.wrap_socket(client, server_side=True) as inside:
            with socket.create_connection((self.upstream.hostname, self.upstream.port)) as outside:
                back = threading.Thread(target=pump, args=(outside, inside), daemon=True)
                back.start()
                pump(inside, outside)
                back.join()

    def stop(self):
        self.listener.close()


@contextlib.contextmanager
def served(*addresses):
    """HTTPS before each of these addresses."""
    with tempfile.TemporaryDirectory() as folder:
        pair = certificate(pathlib.Path(folder))
        proxies = [Https(address, *pair) for address in addresses]
        try:
            yield proxies
        finally:
            for proxy in proxies:
                proxy.stop()


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of somebody else, which no policy of its own binds."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Elsewhere</title><p>Hello.")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def elsewhere():
    """The address of that page."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


PLANTED = """() => {
    document.cookie = "__Host-posthaste=planted; path=/";
    document.cookie = "__Host-posthaste=planted; path=/console; secure";
    return document.cookie;
}"""
ELSEWHERE = """async (url) => {
    const headers = {"x-posthaste-console": "1", "content-type": "application/json"};
    const body = JSON.stringify({name: "stolen over HTTPS"});
    try {
        return (await fetch(url, {method: "POST", credentials: "include", headers, body})).status;
    } catch { return "refused"; }
}"""
FORM = """(url) => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = url;
    document.body.append(form);
    form.submit();
}"""


def session(browser, host, checks, call):
    """Signs in over HTTPS, changes something, is not used by a page of another port, and signs out."""
    with elsewhere() as foreign, served(host.api, foreign) as (console, other):
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.goto(console.origin + "/console")
        page.get_by_label("API key").fill(host.key)
        page.get_by_role("button", name="Sign in with the key").click()
        page.wait_for_url(console.origin + "/console")
        checks.that(page.locator("h1").inner_text() == "Overview", "a key opens a session over HTTPS")
        cookies = context.cookies()
        checks.that([one["name"] for one in cookies] == ["__Host-posthaste"], f"the cookie over HTTPS: {cookies}")
        cookie = cookies[0]
        bound = (cookie["secure"], cookie["httpOnly"], cookie["sameSite"], cookie["path"], cookie["domain"])
        checks.that(bound == (True, True, "Strict", "/", "localhost"), f"the cookie is bound: {cookie}")
        checks.that("posthaste" not in page.evaluate(PLANTED), "a script sees the session, or plants one")
        checks.that(context.cookies() == cookies, "the cookie is another one")

        page.goto(console.origin + "/console/first-key")
        page.locator("#name").fill("made over HTTPS")
        page.get_by_role("button", name="Create the key").click()
        page.locator("#made:not([hidden]) #key").wait_for()
        names = [one["name"] for one in call(host, "GET", "/v3/api_keys")["result"]]
        checks.that("made over HTTPS" in names, f"a change over HTTPS: {names}")

        # Another port is the same site, so that the browser sends the cookie along.
        page.goto(other.origin)
        stolen = page.evaluate(ELSEWHERE, f"{console.origin}/v3/api_keys")
        checks.that(stolen == "refused", f"a page of another port reads an answer: {stolen}")
        names = [one["name"] for one in call(host, "GET", "/v3/api_keys")["result"]]
        checks.that("stolen over HTTPS" not in names, f"a page of another port made a key: {names}")
        with page.expect_response(lambda answer: answer.url.endswith("/sign-out")) as signed_out:
            page.evaluate(FORM, f"{console.origin}/console/sign-out")
        sent = signed_out.value.request.all_headers()
        checks.that("__Host-posthaste" in sent.get("cookie", ""), "the cookie is not sent, so nothing is proved")
        checks.that(signed_out.value.status == 403, f"another port signs the reader out: {signed_out.value.status}")
        page.wait_for_url(f"{console.origin}/console/sign-out")

        page.goto(console.origin + "/console")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(console.origin + "/console/sign-in")
        checks.that(context.cookies() == [], f"signing out leaves {context.cookies()}")
        context.close()
