"""Mistake: the total and the next offset count all books although a genre is given."""

from fastapi import FastAPI, Query

app = FastAPI()
books = [{"id": n, "title": f"Book {n}", "genre": "poetry" if n % 3 == 0 else "prose"} for n in range(1, 46)]


@app.get("/books")
def get_books(
    offset: int = Query(0, ge=0), limit: int = Query(10, ge=1, le=20), genre: str | None = Query(None)
):
    found = books
    if genre is not None:
        found = [b for b in books if b["genre"] == genre]
    total = len(books)
    return {
        "items": found[offset : offset + limit],
        "total": total,
        "offset": offset,
        "limit": limit,
        "next_offset": offset + limit if offset + limit < total else None,
        "previous_offset": max(offset - limit, 0) if offset > 0 else None,
    }
