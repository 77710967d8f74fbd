"""Checks what SAM makes of template.yaml: no role that it adds, no policy that AWS keeps, and no star but
where an action takes nothing else.

The template itself is held by tests/it/template.rs; it cannot see what the translation adds to it.
"""

import json
import sys

from plain import translated

# Actions that know no resource, by AWS's own list of them.
ONLY_STARS = {"ses:GetAccount", "ses:GetDedicatedIps", "ses:GetMessageInsights", "xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def listed(value):
    return value if isinstance(value, list) else [value]


def allowing(value):
    """Every statement in the tree that allows something."""
    if isinstance(value, dict):
        if value.get("Effect") == "Allow":
            yield value
        for one in value.values():
            yield from allowing(one)
    elif isinstance(value, list):
        for one in value:
            yield from allowing(one)


def faults(source, plain):
    """What the translated template allows and should not."""
    for name, resource in plain["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Role" and name not in source["Resources"]:
            yield f"{name} is a role of SAM's making"
        for arn in listed(properties.get("ManagedPolicyArns", [])):
            if not isinstance(arn, dict) or "Ref" not in arn:
                yield f"{name} takes a policy that is not this template's: {arn}"
        for statement in allowing(properties):
            actions = set(listed(statement["Action"]))
            wide = {action for action in actions if "*" in action}
            if wide:
                yield f"{name} allows {sorted(wide)}"
            # A condition may stand between.
            if '"*"' in json.dumps(statement.get("Resource")) and actions - ONLY_STARS:
                yield f"{name} allows {sorted(actions - ONLY_STARS)} on everything"


def main():
    source, plain = translated()
    found = list(faults(source, plain))
    count = len(plain["Resources"])
    # CloudFormation takes no more in a stack.
    if count > 500:
        found.append(f"{count} resources are too many for one stack")
    for line in found or [f"{count} resources, no star but where an action takes nothing else"]:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
