"""Lists: newest first, in pages, filtered; and the expansion of ids into objects.

Source: https://docs.stripe.com/api/pagination, https://docs.stripe.com/api/expanding_objects
"""

import copy
from collections.abc import Callable
from typing import Any, cast

from sandbox import params as read
from sandbox.call import Call
from sandbox.errors import ApiError, Json

LIMIT_DEFAULT = 10
LIMIT_MAX = 100
PAGING = ("limit", "starting_after", "ending_before", "created")

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "gt": lambda created, bound: created > bound,
    "gte": lambda created, bound: created >= bound,
    "lt": lambda created, bound: created < bound,
    "lte": lambda created, bound: created <= bound,
}


def page(call: Call, things: list[Json]) -> Json:
    """One page of `things`, which come newest first."""
    shown = [thing for thing in things if call.realm.born[thing["id"]] <= call.seen_until]
    shown = [thing for thing in shown if _created_fits(call.params, thing["created"])]
    limit = read.amount(call.params, "limit") or LIMIT_DEFAULT
    if limit > LIMIT_MAX:
        raise ApiError.invalid(f"Lists have at most {LIMIT_MAX} items a page", param="limit")
    after = read.text(call.params, "starting_after")
    before = read.text(call.params, "ending_before")
    if after and before:
        raise ApiError.invalid("Give either starting_after or ending_before, not both.")
    if before:
        newer = shown[: _index(shown, before, "ending_before")]
        data, more = newer[-limit:], len(newer) > limit
    else:
        rest = shown[_index(shown, after, "starting_after") + 1 :] if after else shown
        data, more = rest[:limit], len(rest) > limit
    return {"object": "list", "data": data, "has_more": more, "url": call.url}


def matching(things: list[Json], params: Json, *names: str) -> list[Json]:
    """Those whose fields equal the filters that were given."""
    wanted = {name: read.text(params, name) for name in names}
    return [
        thing
        for thing in things
        if all(value is None or thing.get(name) == value for name, value in wanted.items())
    ]


def expanded(call: Call, answer: Json) -> Json:
    """A copy of `answer` in which the ids named by `expand` have become objects."""
    result = copy.deepcopy(answer)
    for path in read.texts(call.params, "expand"):
        _expand(call, result, path.split("."))
    return result


def _expand(call: Call, value: object, path: list[str]) -> None:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            _expand(call, item, path)
        return
    if not path or not isinstance(value, dict):
        return
    holder = cast("Json", value)
    inner: Any = holder.get(path[0])
    if isinstance(inner, str) and inner in call.realm.objects:
        inner = holder[path[0]] = copy.deepcopy(call.realm.objects[inner])
    _expand(call, inner, path[1:])


def _index(things: list[Json], object_id: str, param: str) -> int:
    for index, thing in enumerate(things):
        if thing["id"] == object_id:
            return index
    raise ApiError(404, f"No such object: '{object_id}'", code="resource_missing", param=param)


def _created_fits(params: Json, created: int) -> bool:
    asked: Any = params.get("created")
    if asked is None:
        return True
    try:
        if not isinstance(asked, dict):
            return created == int(asked)
        bounds = cast("dict[str, str]", asked)
        return all(_COMPARISONS[name](created, int(bound)) for name, bound in bounds.items())
    except (KeyError, TypeError, ValueError):
        raise ApiError.invalid("Invalid created filter", param="created") from None
