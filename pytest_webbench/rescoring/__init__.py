"""Judge the completions of a finished run again: extraction, tiers and metrics, without asking any model.

Engines spread the work: `local` over processes of this machine, `ray` over a Ray cluster.
"""
