"""A student of a JupyterHub, as the hub sees one: logs in, follows the book's link, opens notebooks and runs their cells."""

import json
import time
import uuid
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import requests
import websocket

PATIENCE = 900  # seconds for whatever one waits for; nothing here takes longer than a minute on a quiet machine


class Student:
    def __init__(self, name, hub):
        self.name, self.hub, self.web = name, hub, requests.Session()

    def log_in(self):
        page = f"{self.hub}/hub/login"
        self.web.get(page, timeout=PATIENCE)
        form = {
            "username": self.name,
            "password": f"{self.name}'s password",
            "_xsrf": self.token("/hub/"),
        }
        answer = self.web.post(page, form, timeout=PATIENCE)
        assert self.web.get(f"{self.hub}/hub/home", timeout=PATIENCE).url.endswith("/hub/home"), (
            answer.text
        )

    def follow(self, link):
        """Follow an nbgitpuller link: the hub starts a server, and the server fetches the book."""
        self.web.get(link, timeout=PATIENCE)
        progress = f"{self.hub}/hub/api/users/{self.name}/server/progress?_xsrf={quote(self.token('/hub/'))}"
        started = list(self.events(progress))
        assert started and started[-1].get("ready"), started
        page = self.web.get(link, timeout=PATIENCE)
        own = f"/user/{self.name}/"
        assert urlsplit(page.url).path == f"{own}git-pull", page.url
        query = urlencode(dict(parse_qsl(urlsplit(link).query)) | {"_xsrf": self.token(own)})
        pulled = list(self.events(f"{self.hub}{own}git-pull/api?{query}"))
        assert pulled and pulled[-1]["phase"] == "finished", pulled

    def events(self, address):
        """Server-sent events until the server closes the stream."""
        with self.web.get(address, stream=True, timeout=PATIENCE) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                if line.startswith(b"data:"):
                    yield json.loads(line.removeprefix(b"data:"))

    def token(self, path):
        """The cookie that a form or a script sends back, of the hub or of one's own server."""
        return next(
            cookie.value
            for cookie in self.web.cookies
            if cookie.name == "_xsrf" and cookie.path == path
        )

    def ask(self, method, path, **options):
        own = f"/user/{self.name}/"
        token = {"X-XSRFToken": self.token(own)}
        answer = self.web.request(
            method, f"{self.hub}{own}api/{path}", headers=token, timeout=PATIENCE, **options
        )
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def open(self, path):
        return Notebook(self, path)


class Notebook:
    """An open notebook with its kernel."""

    def __init__(self, student, path):
        self.student = student
        cells = student.ask("GET", f"contents/{path}")["content"]["cells"]
        self.cells = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        self.session = student.ask(
            "POST",
            "sessions",
            json={"path": path, "name": "", "type": "notebook", "kernel": {"name": "python3"}},
        )
        own = f"/user/{student.name}/"
        address = f"{student.hub.replace('http', 'ws', 1)}{own}api/kernels/{self.session['kernel']['id']}/channels"
        cookies = [
            f"{cookie.name}={cookie.value}"
            for cookie in student.web.cookies
            if cookie.path in ("/", own)
        ]
        self.socket = websocket.create_connection(
            address, cookie="; ".join(cookies), timeout=PATIENCE
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.student.ask("DELETE", f"sessions/{self.session['id']}")

    def run(self, source):
        """Run a cell: {"status": "ok" or "error", "text": what it printed or raised, "kinds": of what it displayed, "seconds": …}."""
        start, wanted = time.monotonic(), uuid.uuid4().hex
        header = {
            "msg_id": wanted,
            "msg_type": "execute_request",
            "username": "",
            "session": wanted,
            "version": "5.3",
            "date": "",
        }
        content = {
            "code": source,
            "silent": False,
            "store_history": True,
            "allow_stdin": False,
            "stop_on_error": False,
        }
        self.socket.send(
            json.dumps(
                {
                    "header": header,
                    "parent_header": {},
                    "metadata": {},
                    "content": content,
                    "channel": "shell",
                }
            )
        )
        text, kinds, status, idle = [], [], None, False
        while not (status and idle):
            message = json.loads(self.socket.recv())
            if message["parent_header"].get("msg_id") != wanted:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                text.append(content["text"])
            elif kind in ("display_data", "execute_result"):
                kinds += content["data"]
            elif kind == "error":
                text += content["traceback"]
            elif kind == "clear_output":
                text.clear()
            elif kind == "execute_reply":
                status = content["status"]
            elif kind == "status":
                idle = content["execution_state"] == "idle"
        return {
            "status": status,
            "text": "".join(text),
            "kinds": kinds,
            "seconds": time.monotonic() - start,
        }
