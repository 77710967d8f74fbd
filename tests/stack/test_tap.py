#!/usr/bin/env python3
"""Puts the tap before a small server of its own and calls through it: `python tests/stack/test_tap.py`."""

import http.client
import http.server
import json
import threading
import time
import unittest

from bad_day import FAULTS, BadDay
from tap import HANG_UP, Tap
from wire import as_caller


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with what it got, in chunks where the path asks for it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def echo(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        got = {
            "method": self.command, "path": self.path, "body": body.decode(), "host": self.headers["Host"],
            "authorization": self.headers["Authorization"], "port": self.client_address[1],
        }
        answer = json.dumps(got).encode()
        self.send_response(200)
        self.send_header("x-amzn-requestid", "one")
        if "chunks" in self.path:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(answer), answer))
            return
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)
        if "close" in self.path:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_HEAD = echo


def signed(service, target=None, **more):
    scope = f"AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/{service}/aws4_request, Signature=00"
    headers = {"Host": "somewhere.example", "Authorization": scope, **more}
    return {**headers, "X-Amz-Target": target} if target else headers


class TapTest(unittest.TestCase):
    def setUp(self):
        self.upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        self.upstream.daemon_threads = True
        threading.Thread(target=self.upstream.serve_forever, args=(0.05,), daemon=True).start()
        self.tap = Tap(self.upstream.server_address[1])
        self.caller = http.client.HTTPConnection("127.0.0.1", self.tap.port, timeout=10)

    def tearDown(self):
        self.caller.close()
        self.tap.close()
        self.upstream.shutdown()
        self.upstream.server_close()

    def call(self, method, path, body=b"", headers=None):
        self.caller.request(method, path, body, headers or {})
        answer = self.caller.getresponse()
        return answer, answer.read()

    def test_the_name_of_a_caller_in_a_path_is_known_and_not_passed_on(self):
        path = as_caller("", "mail-send") + "/bucket/mail/a%23b?x=1"
        self.caller.request("GET", path, headers=signed("s3"))
        got = json.loads(self.caller.getresponse().read())
        self.assertEqual(got["path"], "/bucket/mail/a%23b?x=1")
        [call] = self.tap.calls
        self.assertEqual((call.app, call.operation, call.on), ("mail-send", "GetObject", "bucket"))

    def test_passes_a_call_on_as_it_is_and_counts_it(self):
        request = json.dumps({"TableName": "rows", "Key": {"pk": {"S": "a"}}})
        headers = signed("dynamodb", "DynamoDB_20120810.GetItem", **{"User-Agent": "aws-sdk app/mail-send"})
        answer, body = self.call("POST", "/", request, headers)
        got = json.loads(body)
        self.assertEqual((answer.status, answer.headers["x-amzn-requestid"]), (200, "one"))
        self.assertEqual((got["host"], got["body"]), ("somewhere.example", request))
        self.assertEqual(got["authorization"], headers["Authorization"])
        [call] = self.tap.calls
        self.assertEqual(
            (call.service, call.operation, call.on, call.app, call.status, call.sent, call.received),
            ("dynamodb", "GetItem", "rows", "mail-send", 200, len(request), len(body)),
        )

    def test_keeps_both_connections_alive_and_opens_another_after_the_upstream_closed(self):
        ports = [json.loads(self.call("GET", path)[1])["port"] for path in ("/1", "/2", "/close")]
        self.assertEqual(len(set(ports)), 1)
        deadline = time.monotonic() + 5
        # Its end is seen once the upstream's FIN is here; until then a call may meet it.
        while time.monotonic() < deadline:
            try:
                port = json.loads(self.call("GET", "/3")[1])["port"]
                break
            except (http.client.HTTPException, OSError):
                self.caller.close()
        self.assertNotEqual(port, ports[0])

    def test_counts_the_messages_of_a_batch_and_their_bytes(self):
        entries = [{"Id": str(i), "MessageBody": "é" * i} for i in (1, 2, 3)]
        request = json.dumps({"QueueUrl": "http://x/000000000000/send", "Entries": entries})
        self.call("POST", "/", request, signed("sqs", "AmazonSQS.SendMessageBatch"))
        [call] = self.tap.calls
        self.assertEqual((call.service, call.on, call.entries), ("sqs", "send", [2, 4, 6]))

    def test_names_what_has_no_target(self):
        for method, path, service, named in [
            ("PUT", "/bucket/mail/a%20b", "s3", ("PutObject", "bucket")),
            ("HEAD", "/bucket/mail/a", "s3", ("HeadObject", "bucket")),
            ("GET", "/bucket?list-type=2", "s3", ("ListObjects", "bucket")),
            ("POST", "/v2/email/outbound-emails", "ses", ("SendEmail", "")),
            ("POST", "/service/Granite/operation/PutMetricData", "monitoring", ("PutMetricData", "")),
        ]:
            self.call(method, path, b"", signed(service))
            call = self.tap.clear()[-1]
            self.assertEqual((call.service, (call.operation, call.on)), (service, named))

    def test_takes_and_gives_chunks(self):
        self.caller.request("PUT", "/chunks", iter([b"one ", b"two"]), encode_chunked=True,
                            headers={"Transfer-Encoding": "chunked"})
        got = json.loads(self.caller.getresponse().read())
        self.assertEqual(got["body"], "one two")

    def test_a_fault_answers_delays_or_hangs_up(self):
        throttled = (400, {"Content-Type": "application/x-amz-json-1.0"}, b'{"__type":"Throttling"}')
        faults = {"/answer": throttled, "/delay": 0.2, "/gone": HANG_UP}
        self.tap.fault = lambda call: faults.get(call.path)
        answer, body = self.call("POST", "/answer")
        self.assertEqual((answer.status, body), (400, throttled[2]))
        self.assertEqual(self.call("POST", "/delay")[0].status, 200)
        self.assertEqual(self.call("POST", "/none")[0].status, 200)
        with self.assertRaises(http.client.RemoteDisconnected):
            self.call("POST", "/gone")
        told = [(call.status, call.faulted) for call in self.tap.calls]
        self.assertEqual(told, [(400, True), (200, True), (200, False), (0, True)])
        self.assertGreaterEqual(self.tap.calls[1].seconds, 0.2)

    def test_on_a_bad_day_each_call_meets_each_refusal_of_its_service(self):
        day = BadDay(self.upstream.server_address[1], one_in=2)
        self.tap.fault = day.fault
        put = {"Put": {"TableName": "t", "Item": {"pk": {"S": "a"}}}}
        write = json.dumps({"RequestItems": {"t": []}, "TransactItems": [put, put]})
        messages = [{"Id": str(n), "MessageBody": "a"} for n in range(2)]
        send = json.dumps({"Entries": messages, "QueueUrl": "http://q/send"})
        told = set()
        for _ in range(40):
            for target, body in (("TransactWriteItems", write), ("BatchWriteItem", write)):
                answer, got = self.call("POST", "/", body, signed("dynamodb", f"DynamoDB_20120810.{target}"))
                got = json.loads(got)
                told.add((target, answer.status, got.get("__type", "").split("#")[-1], "UnprocessedItems" in got))
            answer, got = self.call("POST", "/", send, signed("sqs", "AmazonSQS.SendMessageBatch"))
            got = json.loads(got)
            if "Failed" in got:
                # The emulator got the other message alone.
                self.assertEqual([one["Id"] for one in json.loads(got["body"])["Entries"]], ["1"])
                self.assertEqual([one["Id"] for one in got["Failed"]], ["0"])
            answer, got = self.call("POST", "/v2/email/outbound-emails", "{}", signed("ses"))
            told.add(("SendEmail", answer.status, answer.getheader("x-amzn-ErrorType"), False))
            self.call("GET", "/v2/email/account", None, signed("ses"))
            self.call("GET", "/bucket/key", None, signed("s3"))
            self.call("POST", "/", "{}", signed("secretsmanager", "secretsmanager.GetSecretValue"))
        self.assertEqual(set(day.met), {name for name, *_ in FAULTS})
        for wanted in (
            ("TransactWriteItems", 400, "ProvisionedThroughputExceededException", False),
            ("TransactWriteItems", 400, "TransactionCanceledException", False),
            ("BatchWriteItem", 200, "", True), ("SendEmail", 429, "TooManyRequestsException", False),
        ):
            self.assertIn(wanted, told)

    def test_closing_ends_a_call_that_hangs(self):
        asked = threading.Event()
        self.tap.fault = lambda call: asked.set() or 3600
        ended = []

        def hang():
            try:
                self.call("GET", "/")
            except (http.client.HTTPException, OSError) as error:
                ended.append(error)

        caller = threading.Thread(target=hang)
        caller.start()
        self.assertTrue(asked.wait(5))
        self.tap.close()
        caller.join(5)
        self.assertEqual(len(ended), 1)

    def test_seen_has_the_bodies_and_the_kept_call_has_none(self):
        seen = []
        self.tap.seen = lambda call: seen.append((call.body, len(call.answer)))
        _, body = self.call("POST", "/", b"asked")
        self.assertEqual(seen, [(b"asked", len(body))])
        self.assertEqual(self.tap.calls[0].body, b"")

    def test_many_callers_at_once_lose_no_call(self):
        def many():
            caller = http.client.HTTPConnection("127.0.0.1", self.tap.port, timeout=30)
            for _ in range(100):
                caller.request("GET", "/")
                caller.getresponse().read()
            caller.close()

        callers = [threading.Thread(target=many) for _ in range(8)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
        self.assertEqual(len(self.tap.calls), 800)


if __name__ == "__main__":
    unittest.main()
