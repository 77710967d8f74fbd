#!/usr/bin/env python3
"""The rules that bills are made by, against AWS's own examples: `python tests/cost/test_cost.py`."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "stack"))

import bill
import days
import journal
import mails
import units
from bill import PRICES, Line


def item(size):
    """An item of so many bytes."""
    return {"pk": {"S": "a" * (size - 2)}}


class Units(unittest.TestCase):
    def test_an_item_is_as_large_as_the_guide_says(self):
        for value, size in [
            ({"S": "é"}, 2), ({"N": "27"}, 2), ({"N": "-27"}, 3), ({"N": "1000"}, 2), ({"BOOL": True}, 1),
            ({"NULL": True}, 1), ({"L": []}, 3), ({"M": {}}, 3), ({"L": [{"S": "ab"}]}, 6),
            ({"M": {"k": {"S": "ab"}}}, 7), ({"SS": ["a", "bc"]}, 3),
        ]:
            self.assertEqual(units.value_size(value), size, value)

    def test_reads_count_by_four_kilobytes_and_half_where_they_need_not_be_consistent(self):
        read = units.read_units
        self.assertEqual(read("GetItem", {}, {}), 0.5)
        self.assertEqual(read("GetItem", {"ConsistentRead": True}, {"Item": item(8 * 1024)}), 2)
        self.assertEqual(read("GetItem", {}, {"Item": item(4097)}), 1)
        # Items of a query share their units, those of a batch do not.
        self.assertEqual(read("Query", {}, {"Items": [item(1000)] * 4}), 0.5)
        asked = {"RequestItems": {"rows": {"Keys": [{}, {}, {}], "ConsistentRead": True}}}
        self.assertEqual(read("BatchGetItem", asked, {"Responses": {"rows": [item(5000)]}}), 4)

    def test_what_a_condition_refused_is_counted(self):
        write = units.write_units
        taken = {"ConsumedCapacity": {"CapacityUnits": 2.0}}
        self.assertEqual(write("UpdateItem", {}, 200, taken), 2)
        self.assertEqual(write("PutItem", {"Item": item(1500)}, 400, {}), 2)
        steps = {"TransactItems": [{"Put": {}}, {"ConditionCheck": {}}]}
        told = {"ConsumedCapacity": [{"CapacityUnits": 2.0}]}
        self.assertEqual(write("TransactWriteItems", steps, 200, told), 4)
        self.assertEqual(write("TransactWriteItems", steps, 400, {}), 4)

    def test_a_batch_is_one_request_for_each_64_kilobytes(self):
        for entries, requests in [([1], 1), ([6000] * 10, 1), ([65_536], 1), ([65_537], 2), ([], 1)]:
            self.assertEqual(units.queue_units(entries), requests)


class Bill(unittest.TestCase):
    def test_messages_are_received_and_deleted_by_the_ten(self):
        self.assertEqual(bill.polled([1, 10, 11, 100], 1000), (14, 14))
        self.assertEqual(bill.polled([10], 20_000), (4, 1))

    def test_the_first_of_each_second_is_traced_and_a_twentieth_of_the_rest(self):
        self.assertEqual(bill.traced(100, 1000), 100)
        self.assertEqual(bill.traced(1000, 10), 10 + 0.05 * 990)

    def test_prices_say_what_they_are_and_whence(self):
        for name, price in PRICES.items():
            if isinstance(price, dict):
                self.assertEqual(set(price), {"name", "dollars", "per", "source", "checked"}, name)
                self.assertIn(price["checked"], ("page", "second hand", "not checked"))
        self.assertAlmostEqual(Line("SQS", "sqs_request", 5_000_000).dollars, 2.0)

    def test_an_idle_month_has_what_the_template_has(self):
        alarm = {"Type": "AWS::CloudWatch::Alarm", "Properties": {}}
        two = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Metrics": [{}, {}]}}
        source = {"Type": "AWS::Lambda::EventSourceMapping"}
        sweep = {"gb_second_price": "lambda_gb_second_x86_64", "gb_seconds": 0.01, "writes": 0, "reads": 8,
                 "units": 0, "log_bytes": 500, "metrics": {"one"}}
        lines = dict(bill.idle({"Resources": {"a": alarm, "b": two, "c": source}}, sweep))
        self.assertEqual(lines["3 alarms"].quantity, 3)
        # 5 connections, 3 polls a minute each, 730 hours.
        self.assertEqual(lines["polling 1 queues"].quantity, 5 * 3 * 60 * 730)
        self.assertEqual(lines["sweep: reads"].quantity, 8 * 60 * 730)


    def test_the_page_counts_what_the_template_has(self):
        root = pathlib.Path(__file__).parents[2]
        page = " ".join((root / "tests/cost/README.md").read_text(encoding="utf-8").split())
        resources = re.split(r"(?m)^  (?=\w+:\n    Type: )", (root / "template.yaml").read_text(encoding="utf-8"))
        alarms = [one for one in resources if "\n    Type: AWS::CloudWatch::Alarm\n" in one]
        always = sum("Condition: BySes" not in one for one in alarms)
        metrics = len(alarms) * PRICES["alarm_month"]["dollars"]
        self.assertIn(f"{len(alarms)} alarms {metrics:.2f} ({always} without SES as the relay)", page)


class Days(unittest.TestCase):
    def test_a_probe_follows_after_as_long_as_the_outage_has_lasted(self):
        # The figures that functions/delivery/tests/it/outage.rs holds the worker to: at most 5 and six an hour.
        self.assertEqual([days.probes(60 * minutes) for minutes in (0, 1, 2, 4, 8, 16)], [0, 1, 2, 3, 4, 5])
        self.assertEqual([days.probes(3600 * hours) for hours in (1, 24)], [9, 147])

    def test_waiting_is_moved_once_in_six_hours(self):
        def of(seconds):
            quantities = {}
            for line in days.outage(seconds):
                quantities[line.price] = quantities.get(line.price, 0) + line.quantity
            return quantities

        hour, day = of(3_600), of(86_400)
        self.assertEqual((hour["dynamodb_write"], day["dynamodb_write"]), (100_018, 100_294))
        # Received and deleted by the ten twice, sent twice, and the event of each; and once more in each six hours.
        self.assertEqual((hour["sqs_request"], day["sqs_request"]), (72_000, 72_000 + 3 * 30_000))
        self.assertEqual((hour["s3_put"], day["s3_put"]), (10_000 + 18 + 60, 4 * 10_000 + 294 + 1440))

    def test_three_days_cost_less_than_twelve_outages_of_an_hour(self):
        hour, days_of_it = (days.dollars(days.outage(3_600 * hours)) for hours in (1, 72))
        self.assertLess(days_of_it, 72 / 6 * hour)
        self.assertLess(hour, 0.25)

    def test_a_million_of_each_is_billed_by_prices_that_there_are(self):
        others = (days.opened(), days.scheduled(), days.received(), days.viewed(), days.starts())
        for lines in (days.outage(3_600), *others):
            self.assertTrue(all(line.price in PRICES for line in lines))
            self.assertGreater(days.dollars(lines), 0)
        # Twice as many cost twice as much.
        self.assertAlmostEqual(days.dollars(days.opened(2_000_000)), 2 * days.dollars(days.opened()))


class Logs(unittest.TestCase):
    def test_a_journal_has_durations_bytes_and_metrics(self):
        line = {
            "Stack": "a", "delivered": 1,
            "_aws": {"CloudWatchMetrics": [
                {"Namespace": "N", "Dimensions": [["Stack"]], "Metrics": [{"Name": "delivered"}]},
            ]},
        }
        report = "REPORT RequestId: x\tDuration: 12.5 ms\tBilled Duration: 13 ms\tMemory Size: 128 MB"
        made = journal.journal([report, json.dumps(line)], platform=True)
        self.assertEqual(made.billed, [13])
        self.assertEqual(made.bytes, len(report) + len(json.dumps(line)) + 52)
        made = journal.journal([report, json.dumps(line)])
        self.assertEqual((made.billed, made.bytes), ([13], len(json.dumps(line)) + 26))
        self.assertEqual(made.metrics, {("N", "delivered", (("Stack", "a"),))})

    def test_logs_are_read_to_the_end_and_no_line_twice(self):
        events = [{"timestamp": 1 + i // 3, "message": str(i)} for i in range(50)]

        class Client:
            def filter_log_events(self, logGroupName, startTime, limit):
                return {"events": [one for one in events if one["timestamp"] >= startTime][:limit]}

        logs = journal.Logs(Client(), {"f": "group"})
        logs.PAGE = 7
        messages, logs.since["f"] = logs.new("f")
        self.assertEqual(messages, [str(i) for i in range(50)])
        self.assertEqual(logs.new("f")[0], [])
        events.append({"timestamp": 99, "message": "last"})
        self.assertEqual(logs.new("f")[0], ["last"])

    def test_mails_are_of_two_kilobytes_and_no_two_alike(self):
        sizes = [len(json.dumps(mails.mail(number))) for number in range(50)]
        self.assertTrue(all(1800 < size < 2800 for size in sizes), sizes)
        self.assertEqual(len({json.dumps(mails.mail(number)["content"]) for number in range(50)}), 50)
        self.assertEqual(mails.mail(7, 10), mails.mail(7, 10))
        self.assertEqual(len(mails.mail(7, 10)["personalizations"]), 10)


if __name__ == "__main__":
    unittest.main()
