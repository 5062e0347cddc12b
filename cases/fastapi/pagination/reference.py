"""Books page by page: offset and limit with bounds."""

from typing import Annotated

from fastapi import FastAPI, Query
from pydantic import BaseModel

MAX_LIMIT = 20

app = FastAPI()


class Book(BaseModel):
    id: int
    title: str
    genre: str


class Page(BaseModel):
    items: list[Book]
    total: int
    offset: int
    limit: int
    next_offset: int | None
    previous_offset: int | None


BOOKS = [Book(id=n, title=f"Book {n}", genre="prose" if n % 3 else "poetry") for n in range(1, 46)]


@app.get("/books")
async def list_books(
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 10,
    genre: str | None = None,
) -> Page:
    matching = [book for book in BOOKS if genre is None or book.genre == genre]
    end = offset + limit
    return Page(
        items=matching[offset:end],
        total=len(matching),
        offset=offset,
        limit=limit,
        next_offset=end if end < len(matching) else None,
        previous_offset=max(0, offset - limit) if offset > 0 else None,
    )
