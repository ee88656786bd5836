"""A browser for tests: Chromium, spoken to over two pipes in its own protocol, without any driver."""

import json
import os
import subprocess
import tempfile
import time


class Browser:
    """Opens pages, runs expressions in them, and notes every request and every complaint."""

    def __init__(self, program):
        self.program = program
        self.requests, self.complaints = [], []
        self.last, self.rest = 0, b""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        there, self.write = os.pipe()
        self.read, back = os.pipe()
        options = [
            "--headless",
            "--disable-gpu",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-extensions",
        ]
        options += ["--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={self.profile.name}"]

        def plumb():  # the browser reads commands from 3 and answers on 4
            ends = os.dup(there), os.dup(back)
            for target, end in zip((3, 4), ends):
                os.dup2(end, target)

        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(
            [self.program, *options, "about:blank"], close_fds=False, preexec_fn=plumb, **quiet
        )
        os.close(there), os.close(back)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.write), os.close(self.read)
        self.profile.cleanup()

    def open(self, address):
        self.loaded = False
        self.call("Page.navigate", url=address)
        while not self.loaded:
            self.note(self.receive())

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"]["value"]

    def prefer(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def resize(self, width, height):
        """Give the page another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                assert "error" not in answer, answer
                return answer["result"]
            self.note(answer)

    def receive(self, seconds=60):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.rest:
            assert time.monotonic() < deadline, "the browser does not answer"
            part = os.read(self.read, 1 << 16)
            assert part, "the browser is gone"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, told = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent" and not told["request"]["url"].startswith("data:"):
            self.requests.append(told["request"]["url"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(told)
