"""Templates: escaped by default, a missing name is an error, text in the reader's language."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from gettext import NullTranslations
from typing import Any, Final
from uuid import uuid4

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from ledger.model import Money
from sidecar.console.catalogs import translations
from sidecar.console.figures import amount, clock, full, money_text, span, whole
from sidecar.console.reader import Language
from sidecar.console.statics import address
from sidecar.console.untrusted import one_line, untrusted
from sidecar.plain import plain

_SHORT: Final = 8
_PERSON: Final = re.compile(r"^(person|agent|ledger):")


@pass_context
def _money(context: Context, value: Money | None, kind: str = "", *, doubt: bool = False) -> Markup:
    """Number first, currency after it; hatched while nobody knows whether it moved."""
    if value is None:
        return Markup('<span class="muted">{}</span>').format(_say(context, "no amount"))
    number, currency = amount(value, context["reader"].language)
    classes = " ".join(filter(None, ("money", "q" if doubt else "", kind)))
    return Markup(
        '<span class="{}"><span class="n">{}</span>&nbsp;<span class="c">{}</span></span>'
    ).format(classes, number, currency)


@pass_context
def _money_text(context: Context, value: Money | None) -> str:
    """Money where no markup may be: titles, buttons."""
    if value is None:
        return _say(context, "no amount")
    return money_text(value, context["reader"].language)


@pass_context
def _whole(context: Context, number: int) -> str:
    """A count with its thousands told apart."""
    return whole(number, context["reader"].language)


@pass_context
def _rel(context: Context, moment: datetime) -> Markup:
    """`in 3 h 02 min`, `12 min ago`; the module keeps it true."""
    ahead, behind = _say(context, "in %s"), _say(context, "%s ago")
    away_s = (moment - context["at"]).total_seconds()
    told = (ahead if away_s >= 0 else behind) % span(away_s)
    return Markup('<time datetime="{}" data-clock="{}|{}">{}</time>').format(
        _utc(moment), ahead, behind, told
    )


@pass_context
def _left(context: Context, moment: datetime) -> Markup:
    """The length alone: `3 h 02 min`."""
    away_s = (moment - context["at"]).total_seconds()
    return Markup('<time datetime="{}" data-clock="%s|%s">{}</time>').format(
        _utc(moment), span(away_s)
    )


@pass_context
def _abs(context: Context, moment: datetime, *, seconds: bool = False) -> Markup:
    """`Tue 02:12 CET`; `23:11:48 CET` with seconds."""
    told = clock(moment, context["at"], context["reader"], seconds=seconds)
    return Markup('<time datetime="{}" class="nw">{}</time>').format(_utc(moment), told)


@pass_context
def _when(context: Context, moment: datetime) -> Markup:
    """Both, side by side: `in 3 h 02 min, Tue 02:12 CET`."""
    return Markup("{}, {}").format(_rel(context, moment), _abs(context, moment))


@pass_context
def _full(context: Context, moment: datetime) -> Markup:
    """`Mon 30 Nov 2026, 23:10:04 CET`."""
    return Markup('<time datetime="{}">{}</time>').format(
        _utc(moment), full(moment, context["reader"])
    )


@pass_context
def _untrusted(context: Context, value: object) -> Markup:
    return untrusted(value, more=_say(context, "Show all %s"))


def _person(actor: str | None) -> Markup:
    """Somebody's name, without `person:` in front."""
    return Markup("") if actor is None else one_line(_PERSON.sub("", actor))


def _short(value: object) -> str:
    """The end of an id: what differs."""
    return "…" + plain(value)[-_SHORT:]


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _say(context: Context, text: str) -> str:
    told: str = translations(context["reader"].language).gettext(text)
    return told


_FILTERS: Final[dict[str, Any]] = {
    "money": _money,
    "money_text": _money_text,
    "whole": _whole,
    "rel": _rel,
    "left": _left,
    "abs": _abs,
    "when": _when,
    "full": _full,
    "span": span,
    "untrusted": _untrusted,
    "line": one_line,
    "person": _person,
    "short": _short,
}
_GLOBALS: Final[dict[str, Any]] = {"static": address, "new_act": uuid4}


@cache
def environment(language: Language) -> Environment:
    """The templates in one language."""
    made = Environment(
        loader=PackageLoader("sidecar.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
    )
    catalogue: NullTranslations = translations(language)
    extended: Any = made  # the extension adds a method that no type knows
    extended.install_gettext_callables(catalogue.gettext, catalogue.ngettext, newstyle=True)
    made.filters.update(_FILTERS)
    made.globals.update(_GLOBALS)
    return made


def render(template: str, language: Language, values: Mapping[str, Any]) -> str:
    """A template with its values; the macros see them too."""
    return environment(language).get_template(template).render(values)
