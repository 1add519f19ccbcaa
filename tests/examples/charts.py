"""Reads the charts that examples draw as SVG."""

import re
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def first_and_last_steps(picture):
    """By the name of each curve, the steps of its first and its last point, from the file of a chart."""
    root = xml.etree.ElementTree.fromstring(picture.read_text())
    group = root.find(f"{SVG}g")
    marks, lines, names = [], {}, {}  # pixels and steps on the horizontal axis; both by curve
    for item, after in zip(group, [*group[1:], None]):
        if item.tag != f"{SVG}path":
            continue
        pixels = [float(x) for x in re.findall(r"[ML]([\d.]+),", item.get("d"))]
        if item.get("class") == "grid" and after.get("text-anchor") == "middle":
            marks.append((pixels[0], float(after.text.replace("k", "e3").replace("M", "e6"))))
        elif item.get("class") != "grid" and after is not None and after.tag == f"{SVG}text":  # in the legend
            names[item.get("class")] = after.text
        elif item.get("class") != "grid":
            lines[item.get("class")] = pixels
    if len(marks) < 2:
        raise AssertionError(f"{picture} has no values")
    (left, least), (right, most) = marks[0], marks[-1]
    step = lambda pixel: round(least + (pixel - left) * (most - least) / (right - left))
    return {names[curve]: (step(pixels[0]), step(pixels[-1])) for curve, pixels in lines.items()}
