"""The flags for S3 that docs/cluster.md states plan the whole workflow on an empty bucket."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from workflow.conftest import MINI, PARTS, ROOT

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(
        find_spec("snakemake_storage_plugin_s3") is None,
        reason="snakemake-storage-plugin-s3 is not installed; it needs python-dateutil < 3 and the lock has 4",
    ),
]
EMPTY = b'<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><IsTruncated>false</IsTruncated></ListBucketResult>'


class EmptyBucket(BaseHTTPRequestHandler):
    """Answers as an S3 bucket that exists and holds nothing."""

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path.strip("/").count("/") == 0 else 404)
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EmptyBucket)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_flags_of_the_docs_plan_the_workflow(endpoint: str, tmp_path: Path) -> None:
    page = (ROOT / "docs/cluster.md").read_text()
    (command,) = re.findall(r"```sh s3\n(.*?)```", page, re.DOTALL)
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tmp_path / part)  # type: ignore[operator]
    (tmp_path / "config.yaml").write_text(MINI)
    words = shlex.split(command.replace("\\\n", " ").replace("https://s3.example.org", endpoint))
    keys = {"SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "a", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "b"}
    done = subprocess.run(
        [sys.executable, "-m", *words, "--cores", "1"],
        cwd=tmp_path,
        env={**os.environ, **keys},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "s3://bucket/eflops/" in done.stdout + done.stderr
