"""Where the texts of a picture are. Their widths are set in it, so no font is needed to tell."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from anonymatch.reporting.drawings.svg import Picture

__all__ = ["Box", "cut", "overlapping", "text_boxes"]

SVG = "{http://www.w3.org/2000/svg}"
_HEIGHTS = {"small": 11.0, "tiny": 10.0}
_RISE = 0.74  # of the size, as digits and capital letters
_MOVE = re.compile(r"(translate|rotate)\(([-\d.]+)(?: ([-\d.]+))?\)")

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A text, the corner where it begins, and its sides along and across the letters."""

    text: str
    corner: Point
    angle: float
    width: float
    height: float

    def corners(self) -> list[Point]:
        """The four corners."""
        turn = math.radians(self.angle)
        along = math.cos(turn), math.sin(turn)
        up = math.sin(turn), -math.cos(turn)
        return [
            (
                self.corner[0] + a * self.width * along[0] + b * self.height * up[0],
                self.corner[1] + a * self.width * along[1] + b * self.height * up[1],
            )
            for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))
        ]


def text_boxes(picture: Picture) -> list[Box]:
    """All texts, in the pixels of the picture."""
    boxes: list[Box] = []
    _gather(ET.fromstring(picture.standalone().encode()), (0.0, 0.0), boxes)
    return boxes


def cut(picture: Picture) -> list[str]:
    """Texts that are partly outside."""
    return [
        box.text
        for box in text_boxes(picture)
        for xs, ys in [zip(*box.corners(), strict=True)]
        if min(xs) < -0.5
        or max(xs) > picture.width + 0.5
        or min(ys) < -0.5
        or max(ys) > picture.height + 0.5
    ]


def overlapping(picture: Picture) -> list[tuple[str, str]]:
    """Pairs of texts on each other."""
    boxes = text_boxes(picture)
    return [
        (one.text, other.text)
        for number, one in enumerate(boxes)
        for other in boxes[number + 1 :]
        if _meet(one, other)
    ]


def _meet(one: Box, other: Box) -> bool:
    """Convex shapes are apart exactly where a side of one of them separates them."""
    for box in (one, other):
        turn = math.radians(box.angle)
        for axis in ((math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))):
            (low, high), (least, most) = (
                (min(projections), max(projections))
                for each in (one, other)
                for projections in [[x * axis[0] + y * axis[1] for x, y in each.corners()]]
            )
            if high <= least + 0.5 or most <= low + 0.5:
                return False
    return True


def _gather(node: ET.Element, shift: Point, boxes: list[Box]) -> None:
    x, y, angle = shift[0], shift[1], 0.0
    for kind, first, second in _MOVE.findall(node.get("transform") or ""):
        if kind == "rotate":
            angle = float(first)
        else:
            x, y = x + float(first), y + float(second)
    if node.tag == SVG + "text":
        boxes.append(_box(node, (x, y), angle))
        return
    for child in node:
        _gather(child, (x, y), boxes)


def _box(node: ET.Element, shift: Point, angle: float) -> Box:
    classes = (node.get("class") or "").split()
    width = float(node.get("textLength") or 0)
    size = next((_HEIGHTS[each] for each in classes if each in _HEIGHTS), 13.0)
    x = shift[0] + float(node.get("x") or 0)
    y = shift[1] + float(node.get("y") or 0)
    x -= width if "end" in classes else width / 2 if "middle" in classes else 0.0
    text = "".join([node.text or "", *(child.tail or "" for child in node)])
    return Box(text, (x, y), angle, width, _RISE * size)
