"""Completions: kept once paid for (`store`), asked for concurrently within limits (`fetch`)."""
