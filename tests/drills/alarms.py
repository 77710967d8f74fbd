"""What the alarms of template.yaml would say to the figures of a drill."""

import json
import sys

from stack import client, template

# How the values of one period become one.
STATISTICS = {"Sum": sum, "Maximum": max, "Minimum": min}


class Alarm:
    """An alarm as the template has it."""

    def __init__(self, name):
        self.name = name
        properties = template()["Resources"][name]["Properties"]
        self.metric, self.statistic = properties["MetricName"], STATISTICS[properties["Statistic"]]
        self.period, self.threshold = properties["Period"], properties["Threshold"]
        self.periods, self.missing = properties["EvaluationPeriods"], properties["TreatMissingData"]
        if properties["ComparisonOperator"] != "GreaterThanThreshold":
            sys.exit(f"{name} compares in a way that this drill does not know")

    def worst(self, points):
        """Of (second, value) the figure of the worst period that begins with one of them; None without any."""
        points = sorted(points)
        found = []
        for n, (begin, _) in enumerate(points):
            values = [value for at, value in points[n:] if at < begin + self.period]
            found.append(self.statistic(values))
        return max(found, default=None)

    def rings(self, points, begin, end):
        """Whether it goes off between two seconds, its periods counted from `begin`, and each period's figure."""
        figures, over, rang = [], 0, False
        while begin < end:
            values = [value for at, value in points if begin <= at < begin + self.period]
            figures.append(self.statistic(values) if values else None)
            breaching = figures[-1] > self.threshold if values else self.missing == "breaching"
            over = over + 1 if breaching else 0
            rang |= over >= self.periods
            begin += self.period
        return rang, figures


def figures(endpoint):
    """What the functions wrote in CloudWatch's embedded format: (second, value) of each figure by its name."""
    logs, found = client("logs", endpoint), {}
    for page in logs.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            for line in lines(logs, group["logGroupName"]):
                if not line.startswith("{") or '"_aws"' not in line:
                    continue
                figure = json.loads(line)
                for metric in figure["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                    at = figure["_aws"]["Timestamp"] / 1000
                    found.setdefault(metric["Name"], []).append((at, figure[metric["Name"]]))
    return found


def lines(logs, group):
    for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group):
        for event in page["events"]:
            yield from event["message"].splitlines()
