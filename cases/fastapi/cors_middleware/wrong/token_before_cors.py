"""Mistake: the token is checked in a middleware outside of CORS, so preflights and 401 answers miss the
headers.
"""

from fastapi import FastAPI, HTTPException, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

app = FastAPI()


@app.middleware("http")
async def catch_errors(request: Request, call_next):
    try:
        return await call_next(request)
    except Exception:
        return JSONResponse({"detail": "Internal Server Error"}, status_code=500)


app.add_middleware(
    CORSMiddleware,
    allow_origins=["https://app.example.com"],
    allow_origin_regex=r"https://[a-z0-9-]+\.preview\.example\.com",
    allow_credentials=True,
    allow_methods=["GET", "POST", "DELETE"],
    allow_headers=["Authorization", "Content-Type"],
    expose_headers=["X-Total-Count"],
    max_age=600,
)


@app.middleware("http")
async def check_token(request: Request, call_next):
    if request.headers.get("authorization") != "Bearer demo-token":
        return JSONResponse({"detail": "Not authenticated"}, status_code=401)
    return await call_next(request)


class NoteIn(BaseModel):
    text: str = Field(min_length=1, max_length=200)


notes = {}
next_id = 1


@app.get("/notes")
def list_notes():
    return JSONResponse(list(notes.values()), headers={"X-Total-Count": str(len(notes))})


@app.post("/notes", status_code=201)
def create_note(note: NoteIn):
    global next_id
    notes[next_id] = {"id": next_id, "text": note.text}
    next_id += 1
    return notes[next_id - 1]


@app.delete("/notes/{note_id}", status_code=204)
def delete_note(note_id: int):
    if note_id not in notes:
        raise HTTPException(status_code=404, detail="Note not found")
    del notes[note_id]


@app.get("/crash")
def crash():
    raise RuntimeError("cannot reach notes-db.internal")
