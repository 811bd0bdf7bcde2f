"""What `outlive doctor` looks at, one function a subject: each says what is, and what to do."""

import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from dispatcher.timing import Timing
from ledger.postgres.connect import SCHEMA_VERSION
from ledger.postgres.search_values import Totals
from ledger.postgres.switches import Brake
from sidecar.inquiries import Beating, InFlight, Server
from sidecar.plain import plain

OVERDUE: Final = timedelta(seconds=60)
"""Due work is taken within a second while a worker lives; a minute says that none does."""

_CHECKPOINT_OLD: Final = 3
"""Checkpoints may be late by so many of their intervals."""


class Level(StrEnum):
    """How it stands."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    subject: str
    level: Level
    told: str
    do: str = ""
    """What to do about it; empty where all is well."""


def of_server(server: Server) -> list[Finding]:
    """Version, schema, durability, standbys and the clock's high-water mark."""
    return [
        Finding("database", Level.OK, f"PostgreSQL {plain(server.version)}"),
        Finding(
            "schema",
            Level.OK,
            f"this code reads {SCHEMA_VERSION}, needs {server.min_reader_version}",
        ),
        _of_durability(server),
        _of_standbys(server),
        _of_high_water(server),
    ]


def _of_durability(server: Server) -> Finding:
    told = f"synchronous_commit is {plain(server.synchronous_commit)}"
    if server.synchronous_commit in {"on", "remote_apply", "remote_write"}:
        return Finding("durability", Level.OK, told)
    return Finding(
        "durability",
        Level.WARN,
        f"{told}: a standby that is promoted may lack what was acknowledged",
        "set synchronous_commit to on (or remote_apply) for this database",
    )


def _of_standbys(server: Server) -> Finding:
    if server.is_standby:
        return Finding(
            *("standby", Level.FAIL, "this server is a standby: nothing can be recorded"),
            "point OUTLIVE_DATABASE_URL at the primary",
        )
    if server.async_standbys:
        return Finding(
            *("standby", Level.WARN, f"{server.async_standbys} asynchronous standby(s)"),
            "name one in synchronous_standby_names, or accept that a failover may lose records",
        )
    return Finding("standby", Level.OK, "no asynchronous standby")


def _of_high_water(server: Server) -> Finding:
    if server.clock_went_back:
        return Finding(
            "clock",
            Level.FAIL,
            f"the database's clock is behind its own mark ({server.high_water.isoformat()}): "
            "nothing is sent",
            "correct the clock of the database server; sending goes on by itself then",
        )
    return Finding("clock", Level.OK, "the database's clock has not gone back")


def of_skew(skew_s: float | None, most_s: float) -> Finding:
    """Database against the provider's `Date`."""
    if skew_s is None:
        return Finding("clock skew", Level.WARN, "the provider's clock could not be read")
    told = f"provider minus database: {skew_s:+.0f} s"
    if abs(skew_s) <= most_s:
        return Finding("clock skew", Level.OK, told)
    return Finding(
        *("clock skew", Level.FAIL, f"{told}; beyond {most_s:g} s nothing is sent"),
        "correct the clock of the database server (NTP)",
    )


def of_workers(workers: Sequence[Beating], now: datetime, timing: Timing) -> Finding:
    """Who works, and when they were last heard of."""
    alive = [
        worker
        for worker in workers
        if (now - worker.heartbeat_at).total_seconds() <= timing.heartbeat_ttl_s
    ]
    names = ", ".join(
        f"{plain(w.identity)}@{plain(w.host)}#{w.pid} "
        f"({max(0.0, (now - w.heartbeat_at).total_seconds()):.0f} s ago)"
        for w in alive
    )
    if alive:
        return Finding("workers", Level.OK, f"{len(alive)} alive: {names}")
    silent = f"; {len(workers)} fell silent" if workers else ""
    return Finding(
        *("workers", Level.WARN, f"none is alive{silent}: nothing is sent or recovered"),
        "start one: outlive worker",
    )


def of_due(count: int, oldest: datetime | None, now: datetime) -> Finding:
    """Work that waits to be taken."""
    if oldest is not None and now - oldest > OVERDUE:
        late_s = (now - oldest).total_seconds()
        return Finding(
            *("due work", Level.FAIL, f"{count:,} due, the first for {late_s:,.0f} s"),
            "start a worker (outlive worker), or look at its log if one is alive",
        )
    return Finding("due work", Level.OK, f"{count:,} due now")


def of_totals(totals: Totals) -> list[Finding]:
    """Doubt and open questions."""
    doubt, asked = totals.in_doubt.count, totals.open_escalations
    return [
        Finding("in doubt", Level.OK, "nothing")
        if not doubt
        else Finding("in doubt", Level.OK, f"{doubt:,} operation(s); workers find out"),
        Finding("questions", Level.OK, "none is open")
        if not asked
        else Finding(
            *("questions", Level.WARN, f"{asked:,} open"),
            "answer them: outlive escalations, outlive resolve",
        ),
    ]


def of_brakes(brakes: Sequence[Brake], breakers: int, outages: int) -> list[Finding]:
    """What holds sending back."""
    on = ", ".join(plain(brake.scope) for brake in brakes)
    return [
        Finding("brakes", Level.OK, "none is on")
        if not brakes
        else Finding("brakes", Level.WARN, f"on: {on}", "outlive brake list, outlive brake off"),
        Finding("breakers", Level.OK, "none is open")
        if not breakers
        else Finding(
            *("breakers", Level.WARN, f"{breakers} open: the provider refuses a credential"),
            "check STRIPE_API_KEY and its permissions",
        ),
        Finding("outages", Level.OK, "look-ups work")
        if not outages
        else Finding(
            *("outages", Level.WARN, f"look-ups fail at {outages} provider account(s)"),
            "see the provider's status page; recovery goes on by itself",
        ),
    ]


def of_checkpoint(at: datetime | None, now: datetime, every_s: float) -> Finding:
    """How old the last signature is."""
    if at is None:
        return Finding(
            *("checkpoint", Level.WARN, "none was signed yet"),
            "a worker signs one from time to time; now: outlive audit checkpoint",
        )
    age_s = (now - at).total_seconds()
    if age_s <= _CHECKPOINT_OLD * every_s:
        return Finding("checkpoint", Level.OK, f"signed {age_s:,.0f} s ago")
    return Finding(
        *("checkpoint", Level.WARN, f"the last was signed {age_s:,.0f} s ago"),
        "outlive audit checkpoint; a worker does it too where something has changed",
    )


def of_unknown(unknown: Sequence[InFlight]) -> Finding:
    """Open operations that this code could not finish."""
    if not unknown:
        return Finding("types", Level.OK, "all open operations are of known types")
    told = ", ".join(f"{one.count:,} of {plain(one.type)} v{one.type_version}" for one in unknown)
    return Finding(
        *("types", Level.FAIL, f"open, but not known to this code: {told}"),
        "run the version of outlive that made them until they are finished",
    )


def of_platform() -> list[Finding]:
    """What the operating system offers for the bounds of a send."""
    boot = hasattr(time, "CLOCK_BOOTTIME")
    tcp = hasattr(socket, "TCP_USER_TIMEOUT")
    do = "for development only; run production on Linux"
    return [
        Finding("boot clock", Level.OK, "CLOCK_BOOTTIME counts through suspend")
        if boot
        else Finding("boot clock", Level.WARN, f"no CLOCK_BOOTTIME on {sys.platform}", do),
        Finding("TCP timeout", Level.OK, "TCP_USER_TIMEOUT bounds what the kernel delivers late")
        if tcp
        else Finding("TCP timeout", Level.WARN, f"no TCP_USER_TIMEOUT on {sys.platform}", do),
    ]
