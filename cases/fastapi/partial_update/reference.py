"""Contacts: PATCH merges what is given into what is stored, POST and PUT start from the defaults."""

from itertools import count
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request, status
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictBool, StrictStr, ValidationError

Name = Annotated[str, Field(min_length=1, max_length=50)]
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$")]

app = FastAPI()


class Address(BaseModel):
    street: StrictStr | None = None
    city: Name


class ContactFields(BaseModel):
    name: Name
    email: Email | None = None
    nickname: StrictStr | None = None
    tags: list[StrictStr] = []
    starred: StrictBool = False
    address: Address | None = None


class AddressPatch(Address):
    city: Name = "unset"


class ContactPatch(ContactFields):
    """Everything may be absent; the defaults are never read."""

    name: Name = "unset"
    address: AddressPatch | None = None


class Contact(ContactFields):
    id: int
    role: str = "guest"
    revision: int = 1


contacts: dict[int, Contact] = {}
numbers = count(1)


@app.exception_handler(RequestValidationError)
async def refused(_: Request, invalid: RequestValidationError) -> JSONResponse:
    fields = {
        error["loc"][1] for error in invalid.errors() if len(error["loc"]) > 1 and error["type"] != "json_invalid"
    }
    return JSONResponse({"error": "invalid", "fields": sorted(fields)}, status.HTTP_400_BAD_REQUEST)


@app.exception_handler(HTTPException)
async def failed(_: Request, error: HTTPException) -> JSONResponse:
    return JSONResponse({"error": error.detail}, error.status_code)


def found(number: int) -> Contact:
    if number not in contacts:
        raise HTTPException(status.HTTP_404_NOT_FOUND, "not found")
    return contacts[number]


Found = Annotated[Contact, Depends(found)]


def change(contact: Contact, values: ContactFields) -> Contact:
    changed = Contact(id=contact.id, revision=contact.revision, **values.model_dump())
    if changed != contact:
        changed.revision += 1
    contacts[contact.id] = changed
    return changed


@app.post("/contacts", status_code=status.HTTP_201_CREATED)
async def create(new: ContactFields) -> Contact:
    contact = Contact(id=next(numbers), **new.model_dump())
    contacts[contact.id] = contact
    return contact


@app.get("/contacts/{number}")
async def read(contact: Found) -> Contact:
    return contact


@app.put("/contacts/{number}")
async def replace(contact: Found, values: ContactFields) -> Contact:
    return change(contact, values)


@app.patch("/contacts/{number}")
async def update(contact: Found, patch: ContactPatch) -> Contact:
    stored, given = contact.model_dump(), patch.model_dump(exclude_unset=True)
    if given.get("address") is not None:
        given["address"] = (stored["address"] or {}) | given["address"]
    try:
        values = ContactFields.model_validate(stored | given)
    except ValidationError as invalid:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in invalid.errors()]
        raise RequestValidationError(errors) from None
    return change(contact, values)
