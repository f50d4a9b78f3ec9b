"""One self-contained page: all strings escaped, no file or network needed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from feaslearn.messages import import_extra

#: Parts of the script, in their order.
SCRIPTS = ("solve.js", "tools.js", "view.js")
#: Characters that could end a script element, or a line of a script, inside a JSON string.
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def check_extra() -> None:
    """Refuse, before any work, if the extra ``report`` is not installed."""
    import_extra("jinja2", "report")


def render_page(content: Mapping[str, Any], scene: Mapping[str, Any]) -> str:
    """Return the page as text."""
    check_extra()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = _file("style.css")
    script = "\n".join(['"use strict";', *map(_file, SCRIPTS)])
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("page.html")).render(
        **content,
        # Our files and a string without any markup character: the only ones not escaped.
        style=Markup(style),
        script=Markup(script),
        scene=Markup(script_json(scene)),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def script_json(value: object) -> str:
    """Return JSON that can stand inside a script element of a page."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSAFE)


def _file(name: str) -> str:
    return resources.files("feaslearn.report").joinpath("page", name).read_text("utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a content security policy knows a string."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
