"""Mistake: the model names the types only, so empty names and negative numbers are accepted."""

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

app = FastAPI()


class ItemIn(BaseModel):
    name: str
    price: float
    cost: float
    quantity: int = 0
    tags: list[str] = []


class ItemOut(BaseModel):
    id: int
    name: str
    price: float
    quantity: int
    tags: list[str]


items: list[ItemOut] = []


@app.post("/items", status_code=201, response_model=ItemOut)
def create_item(item: ItemIn):
    stored = ItemOut(id=len(items) + 1, **item.model_dump(exclude={"cost"}))
    items.append(stored)
    return stored


@app.get("/items", response_model=list[ItemOut])
def list_items():
    return items


@app.get("/items/{item_id}", response_model=ItemOut)
def get_item(item_id: int):
    for item in items:
        if item.id == item_id:
            return item
    raise HTTPException(status_code=404, detail="Item not found")
