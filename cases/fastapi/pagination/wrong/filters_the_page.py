"""Mistake: the page is cut first and filtered by genre afterwards."""

from fastapi import FastAPI, Query

app = FastAPI()
books = [{"id": n, "title": f"Book {n}", "genre": "poetry" if n % 3 == 0 else "prose"} for n in range(1, 46)]


@app.get("/books")
def get_books(offset: int = Query(0, ge=0), limit: int = Query(10, ge=1, le=20), genre: str | None = None):
    items = books[offset : offset + limit]
    total = len(books)
    if genre is not None:
        items = [b for b in items if b["genre"] == genre]
        total = sum(b["genre"] == genre for b in books)
    return {
        "items": items,
        "total": total,
        "offset": offset,
        "limit": limit,
        "next_offset": offset + limit if offset + limit < total else None,
        "previous_offset": max(offset - limit, 0) if offset > 0 else None,
    }
