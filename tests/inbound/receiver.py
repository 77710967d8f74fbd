"""A receiver as a user of Flask writes one. What Flask makes of a post, and its fields in bytes."""

import queue
import threading

from flask import Flask, request
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder
from werkzeug.serving import make_server


class Post:
    """One form: `fields` and `files` as Flask reads them, `raw` as [name, bytes] in their order."""

    def __init__(self):
        body = request.get_data(cache=True)
        self.fields = request.form.to_dict()
        self.files = {
            name: (file.filename, file.content_type, file.read())
            for name, file in request.files.items()
        }
        boundary = request.mimetype_params["boundary"].encode()
        self.raw = list(parts(body, boundary))
        self.size = len(body)


def parts(body, boundary):
    """The framework's own parser, below the layer that takes every text for UTF-8."""
    decoder = MultipartDecoder(boundary, max_parts=100_000)
    decoder.receive_data(body)
    decoder.receive_data(None)
    name, chunks = None, []
    while not isinstance(event := decoder.next_event(), Epilogue):
        if isinstance(event, (Field, File)):
            name, chunks = event.name, []
        elif isinstance(event, Data):
            chunks.append(event.data)
            if not event.more_data:
                yield name, b"".join(chunks)


class Receiver:
    """Answers 200 on a free port of loopback, and keeps what was posted."""

    def __init__(self):
        app = Flask("receiver")
        # Werkzeug's bounds for a form; a mail has larger texts and more files.
        app.config["MAX_FORM_MEMORY_SIZE"] = 100 << 20
        app.config["MAX_FORM_PARTS"] = 100_000
        self.posts = queue.Queue()

        @app.post("/")
        def parse():
            self.posts.put(Post())
            return "", 200

        self.server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self, patience=60):
        return self.posts.get(timeout=patience)

    def stop(self):
        self.server.shutdown()
