"""Reads checkov's result, and lets parliament judge each role's policy: FOLDER/checkov.json, FOLDER/policies."""

import json
import pathlib
import sys

from parliament import analyze_policy_string

# What parliament finds and should not: role, issue and action.
MEANT = {
    # It takes the action for that of the same name of Pinpoint Email, which knows no resource. SES's takes identities.
    ("SenderIdentityRole", "RESOURCE_MISMATCH", "ses:CreateEmailIdentity"),
    # ses:GetDedicatedIps asks for the addresses of all pools, and so names none.
    ("IpsRole", "RESOURCE_STAR", None),
}


def findings(path):
    """Role, issue and action of each finding on a policy, with its text."""
    for finding in analyze_policy_string(path.read_text()).findings:
        text = f"{path.stem}: {finding.issue} {finding.title} {finding.detail} {finding.location}"
        details = finding.detail if isinstance(finding.detail, list) else [finding.detail]
        for detail in details:
            action = detail.get("action") if isinstance(detail, dict) else None
            yield (path.stem, finding.issue, action), text


def main():
    folder = pathlib.Path(sys.argv[1])
    summary = json.loads((folder / "checkov.json").read_text())["summary"]
    policies = sorted((folder / "policies").glob("*.json"))
    found = [one for path in policies for one in findings(path)]
    wrong = {text for kind, text in found if kind not in MEANT}
    wrong |= {f"excused for nothing: {kind}" for kind in MEANT - {kind for kind, _ in found}}
    for text in sorted(wrong):
        print(text)
    passed, failed = summary["passed"], summary["failed"]
    print(f"checkov: {passed} passed, {failed} failed; policies: {len(policies)}, faults: {len(wrong)}")
    return 1 if wrong or not policies or not passed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
