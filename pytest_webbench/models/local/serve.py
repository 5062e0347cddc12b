"""The child process: serves one model file on a free loopback port until its standard input ends.

Started by path, so that it needs nothing but xllamacpp: `serve.py MODEL CONTEXT THREADS`. Its first line
of output that is a JSON object, `{"ready": URL}`, tells where it listens.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def serve(model: str, context: int, threads: int) -> None:
    """Serve until standard input ends, which it does when the parent is gone, however it went."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {Path(model).name}
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.fit_params = False  # measuring the machine takes seconds and changes nothing on a CPU
    parameters.n_gpu_layers = 0
    parameters.ui = False
    parameters.verbosity = -1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [os.environ["WEBBENCH_LOCAL_KEY"]]
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"ready": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
