"""HTML by functions: plain text is escaped wherever it goes, markup is not."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, *inner: str, **attributes: str) -> Html:
    """Return an element; attributes without a value are left out, and a trailing underscore of a name too.

    >>> tag("p", "a < b ", tag("b", "c"), class_="soft", id="")
    '<p class="soft">a &lt; b <b>c</b></p>'
    """
    said = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items() if value)
    return Html(f"<{name}{said}>{joined(*inner)}</{name}>")


def joined(*parts: str) -> Html:
    """Return parts one after the other, plain text escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def table(
    caption: str, head: list[str], rows: list[list[str]], *, numeric: int = 0, best: bool = False
) -> Html:
    """Return a table whose first column names the rows; the next `numeric` columns are numbers."""

    def kind(place: int) -> str:
        return "n" if 0 < place <= numeric else ""

    def row(index: int, cells: list[str]) -> Html:
        first = tag("th", cells[0], scope="row")
        rest = [tag("td", cell, class_=kind(place)) for place, cell in enumerate(cells[1:], start=1)]
        return tag("tr", first, *rest, class_="best" if best and index == 0 else "")

    top = tag("tr", *[tag("th", name, scope="col", class_=kind(place)) for place, name in enumerate(head)])
    body = tag("tbody", *[row(index, cells) for index, cells in enumerate(rows)])
    return tag("div", tag("table", tag("caption", caption), tag("thead", top), body), class_="scroll")
