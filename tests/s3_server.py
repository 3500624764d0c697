"""An S3 of the tests' own: moto's server as a process, with one bucket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow.fs import S3FileSystem

BUCKET = "errmine-tests"
#: Names and words that no real account has; Arrow takes them from the environment, as every tool of the store's does.
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
#: A bound for a machine that does much else.
_START_SECONDS = 120


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """Host and port of the server, up as long as the context lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (folder / "s3.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **ENVIRONMENT})
    try:
        end = time.monotonic() + _START_SECONDS
        while True:
            assert server.poll() is None, (folder / "s3.log").read_text()
            try:
                with urllib.request.urlopen(f"http://{address}/moto-api/", timeout=5):
                    break
            except OSError:
                assert time.monotonic() < end, "the S3 server never came up"
                time.sleep(0.1)
        filesystem(address).create_dir(BUCKET)
        yield address
    finally:
        server.kill()
        server.wait()


def filesystem(address: str) -> S3FileSystem:
    """What looks into the server beside errmine."""
    keys = {"access_key": "testing", "secret_key": "testing"}
    return S3FileSystem(
        **keys, endpoint_override=address, scheme="http", region="us-east-1", allow_bucket_creation=True
    )


def url(address: str, prefix: str) -> str:
    """The address of a prefix in the bucket, as a command is given it."""
    return f"s3://{BUCKET}/{prefix}?endpoint_override={address}&scheme=http&region=us-east-1"
