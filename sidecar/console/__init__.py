"""The console: pages for people, rendered on the server, beside the API under `/console`.

**A page is one file and one template.** To add `Runs`:

1. `pages/runs.py`: a frozen dataclass with everything that the page shows (`RunsView`), one
   function that reads it from one snapshot, and `TABLE`, the file's lines of the table of pages::

       @dataclass(frozen=True, slots=True)
       class RunsView:
           runs: tuple[Run, ...]
           age_s: float = field(repr=False)  # moves with the clock alone: no news for the live page

       async def show(call: Call, now: Snapshot) -> Shown:
           rows = await now.rows("console_runs", limit=50)
           return Shown("runs.html", call.say("Runs"), RunsView(...), nav="runs")

       async def offer(call: Call, form: Form) -> Went:
           await call.doors.suspending...(call.id, by=call.who.actor)
           return Went(f"/console/runs/{call.id}")

       TABLE: Final[Table] = (
           Page(path="/runs", right=Right.OVERSEE, show=show),
           Act(path="/runs/{id}/offer", right=Right.ANSWER, do=offer),
       )

2. `templates/runs.html`: `{% extends "frame.html" %}`, `{% block main %}`; it sees `view`, `call`,
   `frame`, `reader`, `at`. Forms begin with `{% call form("/console/runs/1/offer") %}`.
3. One line in `table.py`: `*runs.TABLE`.
4. `locales/es/runs.po`: the Spanish of every text that this page brought
   (`python -m tests.console.messages` prints those that are missing).

**What the door has done before `show` or `do` runs**: the host is ours, the session and its token
are in force, the role has the right, the rate is kept; for a POST also: it comes from our own page
(Origin), carries the session's CSRF token, is no longer than `most_bytes`, and its act is new. The
second arrival of an act is answered with where the first one led (303).

**What it does afterwards**: every answer carries the content security policy, `no-store` and the
other headers of `headers.py`. An act answers `Went` (303), or `Shown` with status 409 or 422, after
which the same act may be tried again. Errors of ours become pages: unknown things 404, the others
with their own words. Raise `Refused` for a page that says more.

**Reading.** `Snapshot` is one read-only moment: `now.rows("name")` runs `ledger/postgres/sql/
name.sql`; parts that read over a pool (`Proposals(now)`, `Escalations(now)`) can be made over it.
`now.queries` lists what was run; `Console.seen` tells tests.

**Text.** `_("…")` in templates and `call.say("…", name=value)` in Python are translated; the text
itself is the key. Text of agents, providers and people goes through the filter `untrusted`, money
through `money`, times through `when`, `rel` and `abs`; macros are in `macros.html`.
"""
