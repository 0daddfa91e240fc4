"""A node of the `osier` binary that was built, on free ports, in a folder of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("OSIER_BIN", str(ROOT / "target" / "debug" / "osier"))
PATIENCE_S = 30


class Osier:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="osier-interop-"))
        listen = ["--listen-p2p", "127.0.0.1:0", "--listen-api", "127.0.0.1:0"]
        listen += ["--listen-relay", "127.0.0.1:0"]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(
            [BINARY, "--data-dir", self.folder, "run", *listen], stdout=quiet, stderr=quiet
        )
        run = self.folder / "run.json"
        until = time.monotonic() + PATIENCE_S
        while not run.exists():
            assert self.process.poll() is None, "osier run ended before it was ready"
            assert time.monotonic() < until, "osier run is not ready"
            time.sleep(0.02)
        self.url = "ws://" + json.loads(run.read_text())["relay"]

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        shutil.rmtree(self.folder)
