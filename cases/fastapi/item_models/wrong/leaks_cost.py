"""Mistake: one model serves input, storage and output, so every answer shows the cost."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

app = FastAPI()


class Item(BaseModel):
    name: str = Field(min_length=1, max_length=50)
    price: float = Field(gt=0)
    cost: float = Field(ge=0)
    quantity: int = Field(0, ge=0)
    tags: list[str] = []


class ItemWithId(Item):
    id: int


items: list[ItemWithId] = []


@app.post("/items", status_code=201)
def create_item(item: Item) -> ItemWithId:
    stored = ItemWithId(id=len(items) + 1, **item.model_dump())
    items.append(stored)
    return stored


@app.get("/items")
def list_items() -> list[ItemWithId]:
    return items


@app.get("/items/{item_id}")
def get_item(item_id: int) -> ItemWithId:
    for item in items:
        if item.id == item_id:
            return item
    raise HTTPException(status_code=404, detail="Item not found")
