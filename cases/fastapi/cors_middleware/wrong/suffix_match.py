"""Mistake: preview origins are recognised by their ending, so look-alikes are allowed."""

from fastapi import Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

app = FastAPI()


@app.middleware("http")
async def cors(request: Request, call_next):
    origin = request.headers.get("origin", "")
    allowed = origin == "https://app.example.com" or origin.endswith("preview.example.com")
    if request.method == "OPTIONS" and origin and "access-control-request-method" in request.headers:
        wanted = request.headers.get("access-control-request-headers", "").lower()
        headers_ok = {h.strip() for h in wanted.split(",") if h.strip()} <= {"authorization", "content-type"}
        method_ok = request.headers["access-control-request-method"] in ("GET", "POST", "DELETE")
        response = Response(status_code=204 if allowed and method_ok and headers_ok else 400)
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, DELETE"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        response.headers["Access-Control-Max-Age"] = "600"
    else:
        try:
            response = await call_next(request)
        except Exception:
            response = JSONResponse({"detail": "Internal Server Error"}, status_code=500)
    if allowed:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
        response.headers["Access-Control-Expose-Headers"] = "X-Total-Count"
    response.headers["Vary"] = "Origin"
    return response


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
