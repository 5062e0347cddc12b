"""Agents that write code together: one generates, one reviews, one debugs, and an orchestrator leads the loop.

Everything here is pure: models are asked, code is read and examples are run by callables that the agents are
given, so that this package knows no store, no tiers and no sandbox.
"""

from pytest_webbench.models.agent.context import AgentContext, AgentResult, Answer, Draft
from pytest_webbench.models.agent.orchestrator import Orchestrator, Outcome
from pytest_webbench.models.agent.roles import CodeGenAgent, DebuggerAgent, ReviewerAgent

__all__ = [
    "AgentContext",
    "AgentResult",
    "Answer",
    "CodeGenAgent",
    "DebuggerAgent",
    "Draft",
    "Orchestrator",
    "Outcome",
    "ReviewerAgent",
]
