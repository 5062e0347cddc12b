"""Mistake: the price is checked with "0 or more" instead of "greater than 0"."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, Field

app = FastAPI()


class ItemIn(BaseModel):
    name: str = Field(..., min_length=1, max_length=50)
    price: float = Field(..., ge=0)
    cost: float = Field(..., ge=0)
    quantity: int = Field(0, ge=0)
    tags: list[str] = []


class ItemOut(BaseModel):
    id: int
    name: str
    price: float
    quantity: int
    tags: list[str]


items: dict[int, ItemOut] = {}


@app.post("/items", status_code=201, response_model=ItemOut)
def create_item(item: ItemIn):
    item_id = len(items) + 1
    items[item_id] = ItemOut(id=item_id, **item.model_dump())
    return items[item_id]


@app.get("/items", response_model=list[ItemOut])
def list_items():
    return list(items.values())


@app.get("/items/{item_id}", response_model=ItemOut)
def get_item(item_id: int):
    item = items.get(item_id)
    if item is None:
        raise HTTPException(status_code=404, detail="Item not found")
    return item
