"""Mistake: the 500 is made by an exception handler, which runs outside the CORS middleware."""

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

app = FastAPI()


@app.exception_handler(Exception)
async def internal_error(request: Request, error: Exception):
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


def check_token(authorization: str | None = Header(None)):
    if authorization != "Bearer demo-token":
        raise HTTPException(status_code=401, detail="Not authenticated")


class NoteIn(BaseModel):
    text: str = Field(min_length=1, max_length=200)


notes = {}
next_id = 1


@app.get("/notes", dependencies=[Depends(check_token)])
def list_notes():
    return JSONResponse(list(notes.values()), headers={"X-Total-Count": str(len(notes))})


@app.post("/notes", status_code=201, dependencies=[Depends(check_token)])
def create_note(note: NoteIn):
    global next_id
    notes[next_id] = {"id": next_id, "text": note.text}
    next_id += 1
    return notes[next_id - 1]


@app.delete("/notes/{note_id}", status_code=204, dependencies=[Depends(check_token)])
def delete_note(note_id: int):
    if note_id not in notes:
        raise HTTPException(status_code=404, detail="Note not found")
    del notes[note_id]


@app.get("/crash", dependencies=[Depends(check_token)])
def crash():
    raise RuntimeError("cannot reach notes-db.internal")
