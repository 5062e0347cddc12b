"""Mistake: the limit has no upper bound, so one request can fetch everything."""

from fastapi import FastAPI, Query

app = FastAPI()
books = [{"id": n, "title": f"Book {n}", "genre": "poetry" if n % 3 == 0 else "prose"} for n in range(1, 46)]


@app.get("/books")
def get_books(offset: int = Query(0, ge=0), limit: int = Query(10, ge=1), genre: str | None = None):
    found = [b for b in books if genre is None or b["genre"] == genre]
    return {
        "items": found[offset : offset + limit],
        "total": len(found),
        "offset": offset,
        "limit": limit,
        "next_offset": offset + limit if offset + limit < len(found) else None,
        "previous_offset": max(offset - limit, 0) if offset else None,
    }
