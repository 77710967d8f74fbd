#!/usr/bin/env python3
"""What of the suites' calls counts as one that reaches a route, and that the figure can fall below its floor."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import suite_calls


class SuiteCalls(unittest.TestCase):
    def test_the_name_of_a_parameter_is_of_no_matter(self):
        self.assertEqual(suite_calls.shape("GET /v3/ips/{ip}"), suite_calls.shape("GET /v3/ips/{ip_address}"))
        self.assertNotEqual(suite_calls.shape("GET /v3/ips/{ip}"), suite_calls.shape("GET /v3/ips/pools"))
        self.assertNotEqual(suite_calls.shape("GET /v3/ips/{ip}"), suite_calls.shape("PUT /v3/ips/{ip}"))

    def test_routes_are_those_of_the_references(self):
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root) / "functions" / "one"
            folder.mkdir(parents=True)
            (folder / "reference.json").write_text(json.dumps({"paths": {"/v3/a/{b}": {"get": {}, "put": {}}}}))
            self.assertEqual(set(suite_calls.routes(pathlib.Path(root))), {"GET /v3/a/{}", "PUT /v3/a/{}"})

    def test_retired_groups_are_told_apart(self):
        text = "GET /v3/campaigns\nGET /v3/contactdb/lists\nGET /v3/stats"
        self.assertEqual([retired for _, retired in suite_calls.calls(text)], [True, True, False])

    def test_fewer_calls_than_the_floor_are_a_failure(self):
        def ends(floor):
            command = [sys.executable, suite_calls.__file__, "--min", str(floor)]
            return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode

        self.assertEqual((ends(1), ends(232)), (0, 1))


if __name__ == "__main__":
    unittest.main()
