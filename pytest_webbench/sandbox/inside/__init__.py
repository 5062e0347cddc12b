"""The side of the sandbox that lives inside it: zygote, loader, discovery and servers."""
