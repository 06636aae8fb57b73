"""Example values as XML, using the `xml` objects in OpenAPI schemas. This module does no I/O."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, indent, tostring

from .description import ApiDescription, Data, object_of, text_of

_NAME = re.compile(r"[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?")
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(description: ApiDescription, schema: object, value: object) -> str:
    """Return the XML of a value; empty if the specification doesn't name its root or uses names that aren't
    valid in XML."""
    root = description.merge(schema)
    name = text_of(object_of(root.get("xml")).get("name")) or description.name_of(schema)
    if not name and isinstance(value, list):
        # A standalone list gets the name of its items, in the plural.
        name = "items"
    try:
        (made,) = _elements(description, {**root, "xml": _wrapped(root, value)}, value, name)
    except ValueError:
        return ""
    indent(made)
    return tostring(made, encoding="unicode")


def _wrapped(root: Data, value: object) -> Data:
    return object_of(root.get("xml")) | ({"wrapped": True} if isinstance(value, list) else {})


def _elements(description: ApiDescription, value_schema: object, value: object, name: str) -> list[Element]:
    """Return the elements for a value named ``name``. For an unwrapped list, there is more than one element. Raises
    ValueError if the name is invalid."""
    schema = description.merge(value_schema)
    xml = object_of(schema.get("xml"))
    if isinstance(value, list):
        inner = schema.get("items")
        said = text_of(object_of(description.merge(inner).get("xml")).get("name"))
        is_wrapped = xml.get("wrapped") is True
        named = said or ((description.name_of(inner) or name) if is_wrapped else name)
        listed = [each for item in value for each in _elements(description, inner, item, named)]
        if not is_wrapped:
            return listed
        around = _element(xml, name)
        around.extend(listed)
        return [around]
    made = _element(xml, name)
    if not isinstance(value, dict):
        made.text = _text(value)
        return [made]
    properties = object_of(schema.get("properties"))
    for key, each in value.items():
        own = object_of(description.merge(properties.get(key)).get("xml"))
        if own.get("attribute") is True and not isinstance(each, (dict, list)):
            made.set(_named(text_of(own.get("name")) or key), _text(each))
        elif each is not None:
            made.extend(_elements(description, properties.get(key), each, key))
    return [made]


def _element(xml: Data, name: str) -> Element:
    prefix, namespace = text_of(xml.get("prefix")), text_of(xml.get("namespace"))
    called = text_of(xml.get("name")) or name
    made = Element(_named(f"{prefix}:{called}" if prefix else called))
    if namespace:
        made.set(_named(f"xmlns:{prefix}" if prefix else "xmlns"), _text(namespace))
    return made


def _named(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} isn't a valid XML name")
    return name


def _text(value: object) -> str:
    if value is None:
        return ""
    said = str(value).lower() if isinstance(value, bool) else str(value)
    return _FORBIDDEN.sub("", said)
