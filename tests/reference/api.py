"""The API by its reference: each call is one that the document has, and each answer is held to it."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request

import jsonschema


class Wrong(Exception):
    """An answer that is not as the document says."""


def closed(schema):
    """The schema without room for fields that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if "properties" in made and isinstance(made["properties"], dict):
        made.setdefault("additionalProperties", False)
    return made


class Api:
    """Calls of one key, and which operations they reached with a success."""

    def __init__(self, base, key):
        self.base, self.key = base, key
        self.document = json.loads(self.raw("GET", "/openapi.json")[2])
        self.components = closed(self.document["components"])
        self.reached = set()

    def raw(self, method, path, body=None, headers=()):
        """Status, headers and bytes of an answer; redirects are not followed."""
        request = urllib.request.Request(self.base + path, method=method, data=body)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        for name, value in dict(headers).items():
            request.add_header(name, value)
        try:
            answer = OPENER.open(request, timeout=60)
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            return answer.status, answer.headers, answer.read()

    def call(self, method, path, body=None, query=(), headers=(), is_right=True, **captures):
        """One call of `METHOD path`; the JSON of its answer. The body of one that is right is held to the document."""
        operation = self.document["paths"][path][method.lower()]
        filled = re.sub(r"\{(\w+)\}", lambda found: urllib.parse.quote(str(captures[found[1]]), safe=""), path)
        if query:
            filled += "?" + urllib.parse.urlencode(query, doseq=True)
        data = None if body is None else json.dumps(body).encode()
        if is_right and data is not None and "requestBody" in operation:
            self.hold(operation["requestBody"]["content"]["application/json"]["schema"], body, f"{method} {path} body")
        status, answered, text = self.raw(method, filled, data, headers)
        name = f"{method} {path} {status}"
        response = operation["responses"].get(str(status))
        if response is None:
            raise Wrong(f"{name}: not documented: {text[:300]}")
        if "$ref" in response:
            response = self.document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        kinds = response.get("content", {})
        if not kinds:
            if text:
                raise Wrong(f"{name}: a body where none is documented: {text[:300]}")
        else:
            kind = answered.get_content_type()
            if kind not in kinds:
                raise Wrong(f"{name}: {kind} is none of {list(kinds)}")
            if kind == "application/json":
                self.hold(kinds[kind]["schema"], json.loads(text), name)
        if status < 400:
            self.reached.add(f"{method} {path}")
        is_json = text and answered.get_content_type() == "application/json"
        return json.loads(text) if is_json else {}

    def made(self, method, path, *args, **named):
        """A call that must succeed."""
        self.reached.discard(f"{method} {path}")
        answer = self.call(method, path, *args, **named)
        if f"{method} {path}" not in self.reached:
            raise Wrong(f"{method} {path} is refused: {answer}")
        return answer

    def refused(self, method, path, *args, **named):
        """A call that must be refused."""
        answer = self.call(method, path, *args, is_right=False, **named)
        if "errors" not in answer:
            raise Wrong(f"{method} {path} is not refused: {answer}")

    def hold(self, schema, value, name):
        whole = closed(schema) | {"components": self.components}
        error = jsonschema.Draft202012Validator(whole).iter_errors(value)
        for one in error:
            raise Wrong(f"{name}: {one.json_path}: {one.message[:300]}")


class Unfollowed(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect to the reader."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Unfollowed)
