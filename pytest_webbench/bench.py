"""What one process of a run judges its samples with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_webbench.cases import Case
from pytest_webbench.completions.fetch import Fetched
from pytest_webbench.evaluation import Evaluation, Sample, evaluate, not_obtained
from pytest_webbench.models import ProviderError, Request
from pytest_webbench.plans import endpoint_of
from pytest_webbench.settings import Settings
from pytest_webbench.workbench import Workbench

Ask = Callable[[str, Request], Fetched]


@dataclass(slots=True)
class Bench:
    """What an item needs to be judged: where completions come from, and what judges them."""

    settings: Settings
    endpoints: Mapping[str, str]
    workbench: Workbench
    ask: Ask

    def sample(self, node_id: str, case: Case, alias: str, template: str, index: int) -> Sample:
        """Return the sample that an item takes."""
        return sample_of(self.settings, self.endpoints, node_id, case, alias, template, index)

    def evaluate(self, sample: Sample) -> Evaluation | None:
        """Obtain the completion of a sample and judge it; None where it is only to be obtained."""
        try:
            fetched = self.ask(sample.model.alias, sample.request)
        except ProviderError as error:
            return not_obtained(self.settings.run_id, sample, error)
        if self.settings.generate_only:
            return None
        return evaluate(self.settings.run_id, sample, fetched, self.workbench)


def sample_of(
    settings: Settings,
    endpoints: Mapping[str, str],
    node_id: str,
    case: Case,
    alias: str,
    template: str,
    index: int,
) -> Sample:
    """Return the sample that an item takes."""
    model = settings.model(alias)
    endpoint = endpoint_of(endpoints[alias], model, case)
    return Sample(node_id, case, model, endpoint, settings.template(template), index)
