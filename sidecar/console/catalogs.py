"""Translations: one small catalogue a page, `locales/LANGUAGE/PAGE.po`, read and merged at start.

The English text is the key. Nothing is compiled to disk, so that no `.mo` can be older than its
`.po`; a test says which messages lack their Spanish.
"""

from collections.abc import Iterator
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from sidecar.console.reader import Language


def catalogue(language: Language) -> Catalog:
    """Everything that is translated into a language."""
    merged = Catalog(locale=language.value)
    for part in _parts(language):
        for message in part:
            if message.id:
                merged[message.id] = message
    return merged


def _parts(language: Language) -> Iterator[Catalog]:
    folder = files("sidecar.console") / "locales" / language.value
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".po"):
            yield read_po(BytesIO(file.read_bytes()), locale=language.value, abort_invalid=True)


@cache
def translations(language: Language) -> NullTranslations:
    """What `gettext` works with."""
    if language is Language.ENGLISH:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalogue(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def say_in(language: Language, text: str, **values: object) -> str:
    """A text in a language, with values for its `%(name)s`."""
    told = translations(language).gettext(text)
    return told % values if values else told
