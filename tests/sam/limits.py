"""Holds the deployed stack to AWS's limits, and to what must not be lost or change with a deployment.

Limits are AWS's quotas with a margin, for a stack with a name of 40 characters. Writes what tests/audit reads:
the plain template, the API's document and each role's policy, into target/sam.
"""

import json
import pathlib
import re
import sys

from plain import ACCOUNT, REGION, Stack, translated

OUT = pathlib.Path("target/sam")

# Of 300 routes, 20,480 bytes of a function's resource policy, 4,096 of its environment, 1,000,000 of a template.
MOST_ROUTES, MOST_POLICY, MOST_ENVIRONMENT, MOST_TEMPLATE, MOST_NAME = 280, 18_432, 3_584, 900_000, 64
MOST_RESOURCES = 450
# As DeliveryConcurrency: what an event source may be held to.
MOST_RESERVED = 1_000

# What a stack loses for good when it is deleted or replaced: each is kept on both.
STATEFUL = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::SQS::Queue"}

# A change of these makes a new secret at the next deployment, and what the old one sealed is lost.
SECRET = {"PasswordLength": 64, "ExcludePunctuation": True, "IncludeSpace": False}

# Metrics as AWS documents them, with the dimensions that they are published under. Those of the namespace
# Posthaste are held to the code by tests/it/template/operation.rs.
METRICS = {
    ("AWS/ApiGateway", "5xx"): {("ApiId",)},
    ("AWS/ApiGateway", "4xx"): {("ApiId",)},
    ("AWS/ApiGateway", "Count"): {("ApiId",)},
    ("AWS/DynamoDB", "ConsumedReadCapacityUnits"): {("TableName",)},
    ("AWS/DynamoDB", "ConsumedWriteCapacityUnits"): {("TableName",)},
    ("AWS/DynamoDB", "ReadThrottleEvents"): {("TableName",)},
    ("AWS/DynamoDB", "WriteThrottleEvents"): {("TableName",)},
    ("AWS/Lambda", "Errors"): {("FunctionName",), ()},
    ("AWS/Lambda", "Throttles"): {("FunctionName",), ()},
    ("AWS/SES", "Reputation.BounceRate"): {()},
    ("AWS/SES", "Reputation.ComplaintRate"): {()},
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): {("QueueName",)},
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): {("QueueName",)},
    ("AWS/SQS", "NumberOfMessagesSent"): {("QueueName",)},
}

# Parameters at work, with values as long as they are likely to be.
BUSY = {
    "Delivery": "smtps://AKIAIOSFODNN7EXAMPLE:" + "p" * 60 + "@email-smtp.ap-southeast-1.amazonaws.com:465",
    "Spf": "include:spf.mail.example.com",
    "HostnameOfService": "h" * 60 + ".example.com",
    "BounceDomain": "b" * 60 + ".example.com",
    "PublicUrl": "https://" + "p" * 60 + ".example.com",
    "EuBaseUrl": "https://" + "e" * 60 + ".example.com",
    "LogLevel": "info,delivery=debug,mail_send=debug,webhook_fanout=debug,posthaste_store=trace",
    "LinkTarget": "l" * 60 + ".cloudfront.net",
    "TrackingUrl": "https://" + "t" * 60 + ".example.com",
    "ConfigurationSet": "c" * 64,
    "IpPools": ",".join(f"pool-{n}={'s' * 40}" for n in range(10)),
    "AccountSets": ",".join(f"account{n:03}={'s' * 32}" for n in range(20)),
    "RateLimitEndpoints": ", ".join(f"POST /v3/templates/{{template_id}}/versions/{n}=1000" for n in range(10)),
    "ServicePrice": "1234.56",
    "RelayPrice": "1234.56",
    "SpamFilter": "rspamd://" + "f" * 60 + ".example.com:11333",
    "OutgoingSpamFilter": "rspamd://" + "f" * 60 + ".example.com:11333",
    "SecretRing": "arn:aws:secretsmanager:ap-southeast-1:123456789012:secret:" + "r" * 60,
    "SecretRingVersion": "v" * 36,
    "Owner": "o" * 64,
}

def size(value):
    """Bytes of a value as compact JSON."""
    return len(json.dumps(value, separators=(",", ":")).encode())


def without_value(plain):
    """Parameters of free text that a function's environment takes, and BUSY does not know."""
    variables = [
        resource["Properties"]["Environment"] for resource in plain["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
    ]
    names = set(re.findall(r"\w+", json.dumps(variables)))
    for name, parameter in plain["Parameters"].items():
        is_text = parameter["Type"] == "String" and "AllowedValues" not in parameter
        if is_text and name in names and name not in BUSY:
            yield f"the largest environment leaves out {name}"


def bound(pattern, most):
    """Whether a parameter that may be empty, and so is a text, takes numbers up to this one alone."""
    return all(
        bool(re.fullmatch(pattern, text)) == taken
        for text, taken in (("", True), ("1", True), (str(most), True), ("0", False), (str(most + 1), False))
    )


def resource_policies(stack):
    """The statements that CloudFormation adds to each function's policy, by function."""
    policies = {}
    for name, permission in stack.resources("AWS::Lambda::Permission"):
        function = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{permission['FunctionName']}"
        statement = {
            "Sid": stack.physical(name), "Effect": "Allow", "Principal": {"Service": permission["Principal"]},
            "Action": permission["Action"], "Resource": function,
            "Condition": {"ArnLike": {"AWS:SourceArn": permission.get("SourceArn", "")}},
        }
        policies.setdefault(permission["FunctionName"], []).append(statement)
    return policies


def environment(properties):
    """Bytes of a function's variables."""
    return sum(len(name) + len(str(value).encode()) for name, value in properties["Environment"]["Variables"].items())


def routes(document):
    """Method and path of each route of a document."""
    methods = {"get", "put", "post", "patch", "delete", "head", "x-amazon-apigateway-any-method"}
    return [(method, path) for path, item in document["paths"].items() for method in item if method in methods]


def of_limits(stack, plain):
    """What exceeds a limit."""
    if (count := len(routes(stack.document()))) > MOST_ROUTES:
        yield f"{count} routes"
    if (count := len(plain["Resources"])) > MOST_RESOURCES:
        yield f"{count} resources"
    if (count := size(plain)) > MOST_TEMPLATE:
        yield f"{count} bytes of template"
    for function, statements in resource_policies(stack).items():
        if (count := size({"Version": "2012-10-17", "Id": "default", "Statement": statements})) > MOST_POLICY:
            yield f"{function}: {count} bytes of resource policy"
    for given in ({}, BUSY):
        for name, properties in Stack(plain, **given).resources("AWS::Lambda::Function"):
            if (count := environment(properties)) > MOST_ENVIRONMENT:
                yield f"{name}: {count} bytes of environment"
    for resource in plain["Resources"]:
        for key, value in stack.value(plain["Resources"][resource].get("Properties", {})).items():
            is_name = key in ("Name", "DashboardName", "RuleSetName", "FunctionName", "RoleName", "QueueName")
            if is_name and isinstance(value, str) and not value.startswith("arn:") and len(value) > MOST_NAME:
                yield f"{resource}: its {key} has {len(value)} characters"


def of_state(plain):
    """What a deployment or a deletion could lose."""
    for name, resource in plain["Resources"].items():
        properties = resource.get("Properties", {})
        # What a parameter says is made again from it.
        if resource["Type"] in STATEFUL and "SecretString" not in properties:
            for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
                if resource.get(policy) != "Retain":
                    yield f"{name} has no {policy}: Retain"
        if resource["Type"] == "AWS::DynamoDB::Table" and properties.get("DeletionProtectionEnabled") is not True:
            yield f"{name} can be deleted by mistake"
        if resource["Type"] == "AWS::S3::Bucket":
            if properties.get("VersioningConfiguration", {}).get("Status") != "Enabled":
                yield f"{name} keeps no versions"
        if properties.get("GenerateSecretString", SECRET) != SECRET:
            yield f"{name} would be generated anew"
    if not any("GenerateSecretString" in resource.get("Properties", {}) for resource in plain["Resources"].values()):
        yield "there is no secret that is generated"
    for name, parameter in plain["Parameters"].items():
        if name.endswith("Concurrency") and not {"MinValue", "MaxValue"} <= set(parameter):
            yield f"{name} has no MinValue or MaxValue"
    if not bound(plain["Parameters"]["DeliveryReserved"].get("AllowedPattern", ""), MOST_RESERVED):
        yield f"DeliveryReserved is not bound to {MOST_RESERVED}"


def of_alarms(stack):
    """Alarms on what is never published."""
    for name, alarm in stack.resources("AWS::CloudWatch::Alarm"):
        dimensions = tuple(one["Name"] for one in alarm.get("Dimensions", []))
        known = METRICS.get((alarm["Namespace"], alarm["MetricName"]))
        if alarm["Namespace"] == "Posthaste":
            known = {("Stack",)}
        if known is None or dimensions not in known:
            yield f"{name} watches {alarm['Namespace']} {alarm['MetricName']} by {list(dimensions)}"


def of_public_routes(stack):
    """Routes without a key that have no limit of their own, and limits of routes that do not exist."""
    there = {f"{method.upper()} {path}" for method, path in routes(stack.document()) if not path.startswith("/$")}
    for _, stage in stack.resources("AWS::ApiGatewayV2::Stage"):
        limited = set(stage.get("RouteSettings", {}))
        open_to_all = {route for route in there if not route.split(" ")[1].startswith("/v3/")} | {"$default"}
        yield from (f"{route} has no throttle of its own" for route in sorted(open_to_all - limited))
        yield from (f"a throttle for {route}, which is no public route" for route in sorted(limited - open_to_all))


def of_receiving(plain):
    """Whether parameters are refused that need SES's receiving where there is none, and nothing of it is made."""
    off, bounces, inbound = {"Receiving": "false"}, {"BounceDomain": "b.example"}, {"InboundHostname": "i.example"}
    # Paris has no receiving endpoint; Jakarta has one, and no bucket for it.
    paris, jakarta, anyway = {"region": "eu-west-3"}, {"region": "ap-southeast-3"}, {"Receiving": "anyway"}
    cases = (
        ({}, False), (off, False), (off | bounces, True), (off | inbound, True), (bounces | inbound, False),
        (paris, True), (jakarta, True), (paris | off, False), (paris | anyway, False), (paris | off | bounces, True),
    )
    for given, refused in cases:
        stack = Stack(plain, **given)
        is_refused = any(
            stack.met(rule["RuleCondition"]) and not all(stack.met(one["Assert"]) for one in rule["Assertions"])
            for rule in plain["Rules"].values()
        )
        if is_refused != refused:
            yield f"{given} is {'' if is_refused else 'not '}refused"
    if not [name for name, _ in Stack(plain, **paris, **anyway).resources("AWS::SES::ReceiptRuleSet")]:
        yield "there are no rules for received mail with Receiving=anyway"
    rules = ("AWS::SES::ReceiptRuleSet", "AWS::SES::ReceiptRule")
    left = [name for kind in rules for name, _ in Stack(plain, **off).resources(kind)]
    if left:
        yield f"without receiving there are still {left}"


def write(stack, plain):
    """Files for the tools that do not know SAM."""
    (OUT / "policies").mkdir(parents=True, exist_ok=True)
    (OUT / "plain.json").write_text(json.dumps(plain, indent=1))
    (OUT / "api.json").write_text(json.dumps(stack.document(), indent=1))
    # With SES as the relay, and with a relay, filters and a first account.
    for suffix, one in (("", stack), ("-busy", Stack(plain, **BUSY))):
        for name, role in one.resources("AWS::IAM::Role"):
            for policy in role["Policies"]:
                (OUT / "policies" / f"{name}{suffix}.json").write_text(json.dumps(policy["PolicyDocument"], indent=1))


def main():
    _, plain = translated()
    stack = Stack(plain)
    found = [*without_value(plain), *of_limits(stack, plain), *of_state(plain), *of_alarms(stack)]
    found += [*of_public_routes(stack), *of_receiving(plain)]
    write(stack, plain)
    for fault in found:
        print(fault)
    largest = max(size(policy) for policy in resource_policies(stack).values())
    fullest = max(environment(one) for _, one in Stack(plain, **BUSY).resources("AWS::Lambda::Function"))
    print(
        f"{len(routes(stack.document()))} routes, {len(plain['Resources'])} resources, {size(plain)} bytes of "
        f"template; largest resource policy {largest}, environment {fullest} bytes; faults: {len(found)}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
