"""Mistake: an id is used as a position in the list, so ids are off by one and item 0 exists."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

app = FastAPI()
items = []


class Item(BaseModel):
    name: str = Field(min_length=1, max_length=50)
    price: float = Field(gt=0)
    cost: float = Field(ge=0)
    quantity: int = Field(0, ge=0)
    tags: list[str] = []


def public(item_id: int, item: Item) -> dict:
    return {"id": item_id, **item.model_dump(exclude={"cost"})}


@app.post("/items", status_code=201)
def create_item(item: Item):
    items.append(item)
    return public(len(items), item)


@app.get("/items")
def list_items():
    return [public(number, item) for number, item in enumerate(items, start=1)]


@app.get("/items/{item_id}")
def get_item(item_id: int):
    if item_id >= len(items):
        raise HTTPException(status_code=404, detail="Item not found")
    return public(item_id, items[item_id])
