"""A headless Chromium, driven over the pipe of its DevTools protocol: no port, no driver, no network."""
import base64
import io
import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

from PIL import Image

#: Nothing of the browser's own may ask for the network either, but for a page that pharos serves on this machine;
#: without a sandbox it runs as root.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--disable-default-apps", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
           "--remote-debugging-pipe", "about:blank"]


class Browser:
    """One page of one browser. `events` keeps all events that the browser has sent."""

    def __init__(self, program: str):
        self.events: list[dict] = []
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._home = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The protocol's pipe are the descriptors 3 and 4.
        command = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, program, f"--user-data-dir={self._home.name}", *OPTIONS],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._session = None
        page = next(target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, timeout: float = 60, **parameters) -> dict:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._message(deadline)
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)
            if answer.get("method") == "Page.javascriptDialogOpening":
                self._accept()

    def _accept(self):
        """Answers a question of the page with OK, such as whether to leave it without saving. Nothing else is answered
        before."""
        message = {"id": next(self._numbers), "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                   "sessionId": self._session}
        os.write(self._write, json.dumps(message).encode() + b"\0")

    def _message(self, deadline: float) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            octets = os.read(self._read, 1 << 20)
            assert octets, "the browser has ended"
            self._buffer += octets
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def value(self, expression: str):
        """What an expression of JavaScript comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, timeout: float = 60):
        """Until an expression holds."""
        deadline = time.monotonic() + timeout
        while not self.value(expression):
            assert time.monotonic() < deadline, f"{expression} does not come true"
            time.sleep(0.05)

    def open(self, page: Path | str, width: int = 1200, is_dark: bool = False, has_scripts: bool = True):
        """Opens a file, or an address."""
        address = page if isinstance(page, str) else page.resolve().as_uri()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not has_scripts)
        self.call("Page.navigate", url=address)
        self.wait(f"location.href === {json.dumps(address)} && document.readyState === 'complete'")

    def screenshot(self, path: Path) -> Image.Image:
        """The whole page, from its top to its end."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        return self.picture(path, clip).convert("L")

    def picture(self, path: Path, clip: dict) -> Image.Image:
        """A part of the page, in colours."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))
        return Image.open(io.BytesIO(path.read_bytes())).convert("RGB")

    def printed(self) -> bytes:
        """The page as a PDF document on the paper that the page asks for."""
        document = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(document["data"])

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, and violations of the page's policy."""
        methods = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"])[:500] for event in self.events if event.get("method") in methods]

    def requests(self) -> list[str]:
        """Every address that was asked for."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def close(self):
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._home.cleanup()
