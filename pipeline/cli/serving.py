"""Every deployment of prefect.yaml served by this one process, for people without a Prefect server and a worker."""

from __future__ import annotations

import warnings
from typing import Any

from prefect import serve as prefect_serve
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy, StateType
from prefect.events import DeploymentEventTrigger
from prefect.schedules import Cron
from prefect.states import Crashed
from prefect.types.entrypoint import EntrypointType

from pipeline import flows
from pipeline.config import Settings
from pipeline.run.ingest import sourcing

#: Runs at one time: an ingest that waits for a quota does not hold back a build.
_RUNS = 4


def serve(settings: Settings) -> None:
    """Nothing, as soon as the process is told to stop; until then flows start as `[schedule]` and their events say."""
    made = [
        _scheduled(flows.INGESTS[name], getattr(settings.schedule, sourcing.schedule_of(name)), settings)
        for name in sourcing.configured(settings)
    ]
    made += [
        _triggered(flows.build, "errmine.ingested", settings),
        _triggered(flows.export, "errmine.built", settings),
        _scheduled(flows.reconcile, settings.schedule.reconcile, settings),
        _deployed(flows.run, "by-hand", settings, ConcurrencyLimitStrategy.CANCEL_NEW),
    ]
    with warnings.catch_warnings():
        # Prefect 3.8 answers SIGTERM with a coroutine that it never awaits, and leaves at once: not our reader's news
        warnings.filterwarnings("ignore", message="coroutine 'Runner.astop' was never awaited")
        prefect_serve(*made, limit=_RUNS, print_starting_message=False)


def settle() -> int:
    """How many runs a killed process left as if they went on; they are Crashed now, so that others may start.

    Only for a server that nobody else uses, before anything runs on it.
    """
    going_on = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
    chosen = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=going_on)))
    with get_client(sync_client=True) as client:
        left = client.read_flow_runs(flow_run_filter=chosen)
        for run in left:
            client.set_flow_run_state(run.id, Crashed(message="the process was killed"), force=True)
    return len(left)


def _scheduled(flow: Any, cron: str, settings: Settings) -> Any:
    """A tick that falls into a running one has nothing to add."""
    schedule = Cron(cron, timezone="UTC")
    return _deployed(flow, "scheduled", settings, ConcurrencyLimitStrategy.CANCEL_NEW, schedule=schedule)


def _triggered(flow: Any, event: str, settings: Settings) -> Any:
    """News that comes while the last news is worked on waits: nothing else would bring it again."""
    place: dict[str, str | list[str]] = {
        "prefect.resource.id": "errmine.home",
        "errmine.home": str(settings.home),
    }
    trigger = DeploymentEventTrigger(match=place, expect={event})
    return _deployed(flow, "triggered", settings, ConcurrencyLimitStrategy.ENQUEUE, triggers=[trigger])


def _deployed(flow: Any, name: str, settings: Settings, strategy: ConcurrencyLimitStrategy, **when: Any) -> Any:
    return flow.to_deployment(
        name,
        parameters={"home": str(settings.home), "config": str(settings.origin or "")},
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=strategy),
        entrypoint_type=EntrypointType.MODULE_PATH,
        **when,
    )
