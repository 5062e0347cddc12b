"""Mistake: the request model has an optional id, and a client that sends one overwrites that item."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

app = FastAPI()
items: dict[int, dict] = {}


class Item(BaseModel):
    id: int | None = None
    name: str = Field(min_length=1, max_length=50)
    price: float = Field(gt=0)
    cost: float = Field(ge=0)
    quantity: int = Field(default=0, ge=0)
    tags: list[str] = Field(default_factory=list)


@app.post("/items", status_code=201)
def create_item(item: Item):
    if item.id is None:
        item.id = len(items) + 1
    items[item.id] = item.model_dump(exclude={"cost"})
    return items[item.id]


@app.get("/items")
def list_items():
    return list(items.values())


@app.get("/items/{item_id}")
def get_item(item_id: int):
    if item_id not in items:
        raise HTTPException(status_code=404, detail="Item not found")
    return items[item_id]
