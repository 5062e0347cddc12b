"""Stock list of a small shop: what comes in and what goes out are two models."""

from itertools import count
from typing import Annotated

from fastapi import FastAPI, HTTPException, status
from pydantic import BaseModel, Field

app = FastAPI()


class ItemFields(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=50)]
    price: Annotated[float, Field(gt=0)]
    quantity: Annotated[int, Field(ge=0)] = 0
    tags: list[str] = []


class NewItem(ItemFields):
    cost: Annotated[float, Field(ge=0)]


class PublicItem(ItemFields):
    id: int


class StoredItem(NewItem, PublicItem):
    """An item as the shop keeps it: the public fields and the cost."""


items: dict[int, StoredItem] = {}
numbers = count(1)


@app.post("/items", status_code=status.HTTP_201_CREATED, response_model=PublicItem)
async def create_item(new: NewItem) -> StoredItem:
    item = StoredItem(id=next(numbers), **new.model_dump())
    items[item.id] = item
    return item


@app.get("/items", response_model=list[PublicItem])
async def list_items() -> list[StoredItem]:
    return list(items.values())


@app.get("/items/{item_id}", response_model=PublicItem)
async def read_item(item_id: int) -> StoredItem:
    if item_id not in items:
        raise HTTPException(status.HTTP_404_NOT_FOUND, "Item not found")
    return items[item_id]
