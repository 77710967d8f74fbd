"""Turns template.yaml into what the emulator can deploy, and deploys it.

What the emulator (ministack 1.5.33) does otherwise than AWS, and what is done about it here:

* It does not read the routes in an API's `Body`: they become Integration and Route resources.
* Functions do not learn its address: AWS_ENDPOINT_URL goes into their environment, and their names as
  AWS_SDK_UA_APP_ID, by which a tap (tap.py) tells whose call it sees. The client of S3 does not write that
  name: where functions call a tap, their address for S3 has it (wire.py).
* A parameter is a text to it even where a number belongs: the event sources get the default.
* It makes secrets with punctuation when told not to: the characters are named one by one.
* It checks no policy: what a function may do is tested on the template (tests/it/template.rs).
* It rebuilds raw mail for SES and publishes no events of it: ses.py reads the mails on the wire and says
  itself what SES would say.
"""

import io
import json
import pathlib
import string
import subprocess
import sys
import tempfile
import zipfile

import boto3
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

from wire import as_caller

TEMPLATE = pathlib.Path(__file__).parents[2] / "template.yaml"
REGION = "us-east-1"
CODE = "code"
# Debian's, for Lambda has them elsewhere.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def template():
    return yaml_parse(TEMPLATE.read_text(encoding="utf-8"))


def functions(of):
    """The functions' names in the template and those of their binaries."""
    return {
        name: resource["Metadata"]["BuildProperties"]["Binary"]
        for name, resource in of["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


# What the emulator does not know. The way of a received mail is held by tests/it/template.rs; here
# the notice of SES is written by hand.
UNKNOWN = {"AWS::SES::ReceiptRule", "AWS::SES::ReceiptRuleSet"}


class NoManagedPolicies:
    """The translator asks for the ARNs of AWS's own policies; it can make them itself."""

    def load(self):
        return {}


def translated(endpoint, is_tap=False):
    """The template as plain CloudFormation, with the code in the emulator's bucket."""
    # What aliases share is copied: the translator changes what it is given.
    source = json.loads(json.dumps(template()))
    for name, binary in functions(source).items():
        properties = source["Resources"][name]["Properties"]
        properties["CodeUri"] = {"Bucket": CODE, "Key": f"{binary}.zip"}
        own = properties.setdefault("Environment", {}).setdefault("Variables", {})
        own["AWS_SDK_UA_APP_ID"] = binary
        if is_tap:
            own["AWS_ENDPOINT_URL_S3"] = as_caller(endpoint, binary)
    variables = source["Globals"]["Function"]["Environment"]["Variables"]
    variables |= {"AWS_ENDPOINT_URL": endpoint, "SSL_CERT_FILE": CERTIFICATES}
    plain = transform(source, {}, NoManagedPolicies())
    for name, resource in list(plain["Resources"].items()):
        if resource["Type"] == "AWS::ApiGatewayV2::Api":
            plain["Resources"].update(routed(name, resource))
        if made := resource.get("Properties", {}).get("GenerateSecretString"):
            made["ExcludeCharacters"] = string.punctuation
        if resource["Type"] == "AWS::Lambda::EventSourceMapping":
            scaling = resource["Properties"].get("ScalingConfig", {})
            most = scaling.get("MaximumConcurrency")
            if isinstance(most, dict):
                scaling["MaximumConcurrency"] = plain["Parameters"][most["Ref"]]["Default"]
    return without(plain, UNKNOWN)


def without(plain, types):
    """The template less the resources of these types, and less what speaks of them."""
    gone = {name for name, resource in plain["Resources"].items() if resource["Type"] in types}
    for part in ("Resources", "Outputs"):
        for name, one in list(plain[part].items()):
            if name in gone or mentions(one, gone):
                del plain[part][name]
    return plain


def mentions(value, names):
    """Whether a value refers to one of these resources."""
    if isinstance(value, dict):
        ref = value.get("Ref") in names if isinstance(value.get("Ref"), str) else False
        return ref or any(mentions(one, names) for one in value.values())
    return isinstance(value, list) and any(mentions(one, names) for one in value)


def route_key(method, path):
    """The key of a route, as the gateway writes it."""
    return f"{'ANY' if method == 'x-amazon-apigateway-any-method' else method.upper()} {path}"


def routed(api, resource):
    """Takes the routes out of an API's body; what stands for them."""
    body = resource["Properties"].pop("Body")
    resource["Properties"] = {"Name": api, "ProtocolType": "HTTP"}
    made = {}
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            target = operation["x-amazon-apigateway-integration"]["uri"]
            function = str(target).split("/functions/${", 1)[1].split(".Arn", 1)[0]
            integration = f"{function}Integration"
            made[integration] = {
                "Type": "AWS::ApiGatewayV2::Integration",
                "Properties": {
                    "ApiId": {"Ref": api},
                    "IntegrationType": "AWS_PROXY",
                    "IntegrationUri": {"Fn::GetAtt": [function, "Arn"]},
                    "PayloadFormatVersion": "2.0",
                },
            }
            default = path.endswith("$default")
            made[f"Route{len(made)}{function}"] = {
                "Type": "AWS::ApiGatewayV2::Route",
                "Properties": {
                    "ApiId": {"Ref": api},
                    "RouteKey": "$default" if default else route_key(method, path),
                    "Target": {"Fn::Join": ["/", ["integrations", {"Ref": integration}]]},
                },
            }
    return made


def built(folder, name):
    """A function's binary, as cargo leaves it (NAME) or as cargo-lambda does (NAME/bootstrap)."""
    path = pathlib.Path(folder) / name
    return path / "bootstrap" if path.is_dir() else path


def packed(binary):
    """A deployment package; without its symbols, which the emulator would copy about."""
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder) / "bootstrap"
        subprocess.run(["strip", "-o", small, binary], check=True)
        entry = zipfile.ZipInfo("bootstrap")
        entry.external_attr = 0o755 << 16
        bytes_ = io.BytesIO()
        with zipfile.ZipFile(bytes_, "w") as package:
            package.writestr(entry, small.read_bytes())
        return bytes_.getvalue()


def client(service, endpoint):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def deploy(endpoint, binaries, parameters, called=None, change=None):
    """Deploys the service; the physical ids of its resources by name. Its functions call AWS at `called`,
    where that is not the emulator's own address. `change` may alter the plain template before."""
    bucket = client("s3", endpoint)
    bucket.create_bucket(Bucket=CODE)
    for binary in functions(template()).values():
        package = packed(built(binaries, binary))
        bucket.put_object(Bucket=CODE, Key=f"{binary}.zip", Body=package)

    # Inline a template may have 51,200 characters.
    plain = translated(called or endpoint, called is not None)
    if change:
        change(plain)
    body = json.dumps(plain)
    bucket.put_object(Bucket=CODE, Key="template.json", Body=body.encode())
    stacks = client("cloudformation", endpoint)
    stacks.create_stack(
        StackName="posthaste",
        TemplateURL=f"{endpoint}/{CODE}/template.json",
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
    )
    return settled(stacks, "stack_create_complete")


def change(endpoint, parameters):
    """Deploys the same template with other parameters; the physical ids of what there is then."""
    stacks = client("cloudformation", endpoint)
    before = stacks.describe_stacks(StackName="posthaste")["Stacks"][0]["Parameters"]
    kept = [one["ParameterKey"] for one in before if one["ParameterKey"] not in parameters]
    stacks.update_stack(
        StackName="posthaste",
        UsePreviousTemplate=True,
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()]
        + [{"ParameterKey": name, "UsePreviousValue": True} for name in kept],
    )
    return settled(stacks, "stack_update_complete")


def settled(stacks, state):
    """Waits until the stack is in this state; the physical ids of its resources by name."""
    waiter = stacks.get_waiter(state)
    try:
        waiter.wait(StackName="posthaste", WaiterConfig={"Delay": 1, "MaxAttempts": 120})
    except Exception:
        for event in stacks.describe_stack_events(StackName="posthaste")["StackEvents"]:
            if "FAILED" in event["ResourceStatus"]:
                print(event["LogicalResourceId"], event.get("ResourceStatusReason"))
        raise
    resources = {}
    for page in stacks.get_paginator("list_stack_resources").paginate(StackName="posthaste"):
        for resource in page["StackResourceSummaries"]:
            resources[resource["LogicalResourceId"]] = resource["PhysicalResourceId"]
    return resources


if __name__ == "__main__" and sys.argv[1:] == ["names"]:
    print(*functions(template()).values())
