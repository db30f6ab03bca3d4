"""A fit as plain values, for JSON."""

from typing import Any

from tailback.fit.parameter import plain
from tailback.fit.result import Fit, Fitted


def record(fit: Fit) -> dict[str, Any]:
    """Everything that was found; errors and changes are fractions, 0.1 is 10 %."""
    return {
        "scenario": fit.scenario.name,
        "overrides": list(fit.scenario.overrides),
        "to": fit.target.label,
        "rows": fit.target.rows.select(fit.target.axes).to_dicts(),
        "weights": dict(fit.weights),
        "iterations": fit.iterations,
        "seed": fit.seed,
        "evaluations": fit.evaluations,
        "budget": fit.budget,
        "interrupted": fit.interrupted,
        "error": fit.score.error,
        "error_by_metric": dict(fit.score.by_metric),
        "worst": fit.score.worst,
        "error_before": fit.before.error,
        "error_tried": fit.tried,
        "kept": fit.kept,
        "error_by_metric_before": dict(fit.before.by_metric),
        "error_with_other_seeds": {
            str(seed): score.error for seed, score in fit.other_seeds.items()
        },
        "parameters": [_parameter(fitted) for fitted in fit.fitted],
    }


def _parameter(fitted: Fitted) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": fitted.parameter.path,
        "value": plain(fitted.value),
        "before": None if fitted.before is None else plain(fitted.before),
        "range": fitted.parameter.range,
        "at_bound": fitted.at_bound,
    }
    if fitted.sensitivity is not None:
        found["flat"] = fitted.sensitivity.flat
        found["within_chance"] = fitted.sensitivity.within_chance
        found["sensitivity"] = [
            {
                "shift": step.shift,
                "value": plain(step.value),
                "error_change": step.error_change,
                "metric_changes": dict(step.metric_changes),
            }
            for step in fitted.sensitivity.steps
        ]
    return found
