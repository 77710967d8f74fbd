"""What SAM makes of template.yaml, and what CloudFormation would make of that for a stack with the longest name."""

import json
import re

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

# Names of resources begin with the stack's: this is as long as the guide lets it be.
STACK = "a" * 40
REGION, ACCOUNT = "ap-southeast-1", "123456789012"
PSEUDO = {
    "AWS::StackName": STACK, "AWS::Region": REGION, "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}


ARNS = {
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:{here}:table/{name}",
    "AWS::Events::EventBus": "arn:aws:events:{here}:event-bus/{name}",
    "AWS::Events::Rule": "arn:aws:events:{here}:rule/{name}",
    "AWS::IAM::Role": "arn:aws:iam::123456789012:role/{name}",
    "AWS::Lambda::Function": "arn:aws:lambda:{here}:function:{name}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{here}:log-group:{name}:*",
    "AWS::S3::Bucket": "arn:aws:s3:::{name}",
    "AWS::SQS::Queue": "arn:aws:sqs:{here}:{name}",
}


class NoManagedPolicies:
    """The translator asks for the ARNs of AWS's own policies; it can make them itself."""

    def load(self):
        return {}


def translated():
    """The template as it is written, and as plain CloudFormation."""
    with open("template.yaml", encoding="utf-8") as file:
        text = file.read()
    source = yaml_parse(text)
    # Parsed once more, because the translator changes what it is given, also where an alias shares it.
    given = json.loads(json.dumps(yaml_parse(text)))
    for resource in given["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = {"Bucket": "code", "Key": "code"}
    return source, transform(given, {}, NoManagedPolicies())


class Stack:
    """The values of a stack with every parameter at its default, or as given."""

    def __init__(self, plain, region=REGION, **given):
        self.plain = plain
        self.pseudo = PSEUDO | {"AWS::Region": region}
        self.parameters = {name: one.get("Default", "") for name, one in plain["Parameters"].items()} | given

    def value(self, value):
        """A value with everything filled in that CloudFormation would; None where it is AWS::NoValue."""
        if isinstance(value, list):
            return [one for one in map(self.value, value) if one is not None]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, body), = value.items()
            if name == "Ref":
                return self.ref(body)
            if name == "Fn::GetAtt":
                return self.attribute(*(body.split(".") if isinstance(body, str) else body))
            if name == "Fn::Sub":
                return self.filled(body) if isinstance(body, str) else self.filled(*body)
            if name == "Fn::If":
                return self.value(body[1] if self.holds(body[0]) else body[2])
            if name == "Fn::Join":
                return body[0].join(str(self.value(one)) for one in body[1])
            if name == "Fn::Select":
                return self.value(body[1])[int(body[0])]
            if name == "Fn::Split":
                return str(self.value(body[1])).split(body[0])
        made = {key: self.value(one) for key, one in value.items()}
        return {key: one for key, one in made.items() if one is not None}

    def holds(self, name):
        """Whether a condition is met."""
        return self.met(self.plain["Conditions"][name])

    def met(self, condition):
        (kind, body), = condition.items()
        if kind == "Condition":
            return self.holds(body)
        if kind == "Fn::Equals":
            left, right = map(self.value, body)
            return str(left) == str(right)
        if kind == "Fn::Not":
            return not self.met(body[0])
        if kind == "Fn::Contains":
            return self.value(body[1]) in body[0]
        return (all if kind == "Fn::And" else any)(map(self.met, body))

    def ref(self, name):
        if name == "AWS::NoValue":
            return None
        if name in self.pseudo:
            return self.pseudo[name]
        if name in self.parameters:
            return self.parameters[name]
        return self.physical(name)

    def physical(self, name):
        """The name that CloudFormation would give: of the stack, the resource, and a suffix."""
        kind = self.plain["Resources"][name]["Type"]
        made = f"{STACK}-{name}-1A2B3C4D5E6F"
        if kind == "AWS::SQS::Queue":
            return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{made}"
        if kind == "AWS::SecretsManager::Secret":
            return f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{made}"
        if kind in ("AWS::SNS::Topic", "AWS::IAM::ManagedPolicy"):
            return f"arn:aws:service:{REGION}:{ACCOUNT}:{made}"
        return "a1b2c3d4e5" if kind == "AWS::ApiGatewayV2::Api" else made[:64]

    def attribute(self, name, attribute):
        """An ARN in the form of its service, or a name."""
        last = self.physical(name).rsplit("/", 1)[-1]
        kind = self.plain["Resources"][name]["Type"]
        if not attribute.endswith("Arn"):
            return last
        return ARNS.get(kind, "arn:aws:service:{here}:{name}").format(here=f"{REGION}:{ACCOUNT}", name=last)

    def filled(self, text, own=None):
        """A text with its `${…}` filled in, first by the names of its own."""

        def one(found):
            name = found.group(1)
            if own and name in own:
                return str(self.value(own[name]))
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            value = self.attribute(*name.split(".", 1)) if "." in name else self.ref(name)
            return str(value)

        return re.sub(r"\$\{([^}]+)\}", one, text)

    def resources(self, kind):
        """The properties of the resources of a type, filled in, without those whose condition is not met."""
        for name, resource in self.plain["Resources"].items():
            if resource["Type"] == kind and ("Condition" not in resource or self.holds(resource["Condition"])):
                yield name, self.value(resource.get("Properties", {}))

    def document(self):
        """The API's OpenAPI document."""
        (_, api), = self.resources("AWS::ApiGatewayV2::Api")
        return api["Body"]
