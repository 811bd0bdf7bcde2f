"""The embedded ClickHouse itself: run as a script in a child process, never imported.

Arguments: the engine's extension module, the data folder. The working folder holds `config.xml`.
Serves HTTP until its standard input ends, which also happens when its parent is killed.

Importing the package would start an engine of its own, so its extension module is loaded by path.
The query that listens is documented nowhere; it was found to work with chdb-core 26.9.0.
"""

import importlib.util
import os
import sys

_RTLD_DEEPBIND = 0x8
"""Linux: its own symbols before those of the interpreter's libraries."""
_LISTEN = (
    "SYSTEM START LISTEN HTTP; "
    "SELECT * FROM file('stdin', 'LineAsString', 'line String') FORMAT Null"
)


def main(module: str, data: str) -> None:
    """Serve until the input ends."""
    if sys.platform == "linux":
        sys.setdlopenflags(os.RTLD_NOW | _RTLD_DEEPBIND)
    spec = importlib.util.spec_from_file_location("_chdb", module)
    assert spec is not None  # noqa: S101  the caller checked the path
    assert spec.loader is not None  # noqa: S101  the same
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)
    engine.query(_LISTEN, "TabSeparated", path=data)


if __name__ == "__main__":
    main(*sys.argv[1:])
