"""A real small model on this machine: no key, no network, reproducible.

`weights` finds the model file, `server` runs llama.cpp's own OpenAI-compatible server on it as a child
process (`serve` is what runs in there), `provider` asks that server.
"""
