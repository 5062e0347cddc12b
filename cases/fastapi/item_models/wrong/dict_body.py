"""Mistake: the body is a plain dict that is checked by hand, without looking at types, and answers 400."""

from fastapi import FastAPI, HTTPException

app = FastAPI()
items = {}


@app.post("/items", status_code=201)
def create_item(body: dict):
    for field in ("name", "price", "cost"):
        if field not in body:
            raise HTTPException(status_code=400, detail=f"{field} is required")
    item_id = len(items) + 1
    items[item_id] = {
        "id": item_id,
        "name": body["name"],
        "price": body["price"],
        "quantity": body.get("quantity", 0),
        "tags": body.get("tags", []),
    }
    return items[item_id]


@app.get("/items")
def list_items():
    return list(items.values())


@app.get("/items/{item_id}")
def get_item(item_id: int):
    if item_id not in items:
        raise HTTPException(status_code=404, detail="Item not found")
    return items[item_id]
