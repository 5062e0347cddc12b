"""Serve the WSGI `app` of ./app.py on the unix socket named by the argument, one thread a request."""

import socketserver
import sys
from pathlib import Path
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class Handler(WSGIRequestHandler):
    def address_string(self):
        return "127.0.0.1"

    def handle(self):
        self.raw_requestline = self.rfile.readline(65537)
        if self.parse_request():
            run = ServerHandler(self.rfile, self.wfile, sys.stderr, self.get_environ(), multithread=True)
            run.request_handler = self
            run.run(app)

    def get_environ(self):
        self.client_address = ("127.0.0.1", 1)
        self.server.base_environ = {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": "5000", "SCRIPT_NAME": ""}
        return super().get_environ()

    def log_message(self, *_):
        pass


namespace = {"__name__": "app"}
exec(compile(Path("app.py").read_text(), "app.py", "exec"), namespace)
app = namespace["app"]
server = Server(sys.argv[1], Handler)
Path("ready").touch()
server.serve_forever(poll_interval=0.05)
