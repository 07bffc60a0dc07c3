"""A headless Chromium, driven through its own debugging pipe: no driver and no package is needed."""

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Frames stay in the page's own process, so that all of the page's requests are seen in one place.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process",
    "--no-first-run",
    "--window-size=1400,1000",
    "--remote-debugging-pipe",
)

# How many frames are painted, at some 60 a second, before something counts as never to be seen.
LOOKS = 1200


class Browser:
    """One page; `requests` holds the address of everything it asked for."""

    def __init__(self, program: str, profile: Path) -> None:
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        # Chromium reads commands from file 3 and writes answers to file 4.
        launch = f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", launch, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(read_commands, write_answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self._count, self._rest, self._session = 0, b"", ""
        self.requests: list[str] = []
        self.mistakes: list[str] = []
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.command(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, taking note of what happens meanwhile."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        os.write(self._commands, json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode())
        os.write(self._commands, b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])

    def open(self, page: Path) -> None:
        """Load a file and wait until it is there."""
        self.command("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression holds, which the browser looks at before each frame that it paints."""
        promise = f"""new Promise((done, fail) => {{ let looks = 0; const look = () => ({expression}) ? done(true)
            : ++looks > {LOOKS} ? fail(new Error("never true")) : requestAnimationFrame(look); look(); }})"""
        assert self.evaluate(promise), expression

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser ended by itself"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.mistakes.append(json.dumps(event["params"]["exceptionDetails"])[:500])
        return event
