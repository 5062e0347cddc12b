"""Small programs, and the ways in which replies dress them up."""

from __future__ import annotations

import textwrap

APP = textwrap.dedent('''\
    from flask import Flask, request

    app = Flask(__name__)
    notes = []


    @app.post("/notes")
    def add():
        """Add a note."""
        notes.append(request.json["text"])
        return {"count": len(notes)}, 201''')
DRAFT = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get('/draft')\ndef draft():\n    return 'd'"
FASTAPI = "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get('/ping')\ndef ping():\n    return 'pong'"
DJANGO_VIEWS = "from django.http import JsonResponse\n\n\ndef ping(request):\n    return JsonResponse({})"
DJANGO_URLS = "from django.urls import path\nfrom views import ping\n\nurlpatterns = [path('ping', ping)]"
CLIENT = "import requests\n\nr = requests.get('http://localhost:5000/notes')"
DOCUMENTED = APP + '\n\n\nHELP = """\nTry:\n\n```\ncurl localhost\n```\n"""\n\nTAIL = 1'


def fenced(code: str, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{code}\n{fence}"


def indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


def numbered(code: str, pattern: str, start: int = 1) -> str:
    return "\n".join(pattern.format(n, line) for n, line in enumerate(code.split("\n"), start))


def prompted(code: str) -> str:
    lines = code.split("\n")
    return "\n".join((">>> " if line and line[0] not in ' "' else "... ") + line for line in lines)
