"""Wrong: the size of a frame is counted in characters."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Query, WebSocket
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field, ValidationError

TOKENS = {"tok-ada-51": "ada", "tok-bo-90": "bo", "tok-cy-17": "cy", "tok-di-68": "di"}
ORIGINS = {"https://chat.example.com", "https://beta.example.com:8443"}
MOST_MEMBERS = 3
LARGEST_FRAME = 1024

app = FastAPI()


class NewMessage(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=500)]


@dataclass
class Connection:
    """A member's socket, and the frames that are still to be sent over it."""

    user: str
    websocket: WebSocket
    outbox: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)

    async def send_all(self) -> None:
        while True:
            await self.websocket.send_json(await self.outbox.get())


@dataclass
class Room:
    messages: list[dict[str, Any]] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)

    def join(self, user: str, websocket: WebSocket) -> Connection:
        connection = Connection(user, websocket)
        connection.outbox.put_nowait({"type": "welcome", "user": user, "seq": len(self.messages)})
        self.connections.append(connection)
        return connection

    def publish(self, user: str, text: str) -> dict[str, Any]:
        """Store a message and hand it to all connections, without waiting for any of them."""
        message = {"type": "message", "seq": len(self.messages) + 1, "from": user, "text": text}
        self.messages.append(message)
        for connection in self.connections:
            connection.outbox.put_nowait(message)
        return message


rooms = {"tea": Room(), "coffee": Room()}


async def listen(connection: Connection, room: Room) -> None:
    """Handle what a member sends until the connection ends."""
    while (event := await connection.websocket.receive())["type"] == "websocket.receive":
        frame = event.get("text") or ""
        if len(frame or event.get("bytes") or b"") > LARGEST_FRAME:
            await connection.websocket.close(1009)
            return
        try:
            room.publish(connection.user, NewMessage.model_validate_json(frame).text)
        except ValidationError:
            connection.outbox.put_nowait({"type": "error", "error": "invalid"})


@app.websocket("/rooms/{name}/ws")
async def chat(websocket: WebSocket, name: str, token: str = "") -> None:
    origin = websocket.headers.get("origin")
    if name not in rooms or token not in TOKENS or not (origin is None or origin in ORIGINS):
        await websocket.close()
        return
    room = rooms[name]
    if len(room.connections) >= MOST_MEMBERS:
        await websocket.accept()
        await websocket.close(1013)
        return
    connection = room.join(TOKENS[token], websocket)
    sender = None
    try:
        await websocket.accept()
        sender = asyncio.create_task(connection.send_all())
        await listen(connection, room)
    finally:
        room.connections.remove(connection)
        if sender:
            sender.cancel()


bearer = HTTPBearer(auto_error=False)


def current_user(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> str:
    if credentials is None or credentials.credentials not in TOKENS:
        raise HTTPException(401)
    return TOKENS[credentials.credentials]


async def existing_room(name: str, _: Annotated[str, Depends(current_user)]) -> Room:
    if name not in rooms:
        raise HTTPException(404)
    return rooms[name]


User = Annotated[str, Depends(current_user)]
ExistingRoom = Annotated[Room, Depends(existing_room)]


@app.get("/rooms/{name}/messages")
async def list_messages(room: ExistingRoom, after: Annotated[int, Query(ge=0)] = 0) -> dict[str, Any]:
    return {"messages": room.messages[after:]}


@app.post("/rooms/{name}/messages", status_code=201)
async def post_message(room: ExistingRoom, user: User, new: NewMessage) -> dict[str, Any]:
    return room.publish(user, new.text)


@app.get("/rooms/{name}/members")
async def list_members(room: ExistingRoom) -> dict[str, list[str]]:
    return {"members": sorted({connection.user for connection in room.connections})}
