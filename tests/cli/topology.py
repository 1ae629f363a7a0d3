"""The verb `topology`: figures of machines, and pictures that can be read: every shipped node, alone and by three."""

import csv
import io
import json
import pathlib
import re
import xml.etree.ElementTree as xml

from dot import read_dot

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"title": 17.0, "frame": 13.5, "small": 10.5}


def topology(program):
    figures(program)
    fabrics(program)
    pictures(program)
    refusals(program)


def document(program, *words):
    result = program("topology", *words, "--json")
    program.equal((result.code, result.err), (0, ""), f"topology {words}")
    return json.loads(result.out)


def near(program, found, wanted, what):
    program.expect(abs(found / wanted - 1) < 1e-9, f"{what}: {found} instead of {wanted}")


def figures(program):
    text = program("topology", "dgx-h100", "--nodes", "4", "--collective", "all_reduce")
    program.equal((text.code, text.err), (0, ""), "topology")
    for words in ("diameter", "bisection", "down : up", "chip 0 reaches by", "NVLink 4", "busbw", "load"):
        program.expect(words in text.out, f"topology prints {words!r}")
    dgx = document(program, "dgx-h100", "--nodes", "4", "--collective", "all_reduce", "--size", "1GiB")
    program.equal(dgx["schema"], "clustersim.topology/1", "topology --json")
    ports = {row["link"]: row for row in dgx["tiers"] if row["between"] != ["chip", "PCIe switch"]}
    program.equal(ports["nvlink4"]["links"], 4 * 8, "one port of NVLink for each chip")
    nic = next(row for row in dgx["tiers"] if row["between"] == ["NIC", "leaf"])
    near(program, dgx["bisection"]["gbs"], 2 * 8 * nic["slowest_gbs"], "two nodes send by all of their cards")
    program.equal(dgx["bisection"]["chips"], 16, "half of the chips")
    program.expect(0.5 < nic["load"] <= 1.0, f"the cards bind an all-reduce: {nic['load']}")
    program.equal(dgx["loads"]["binding_edge"], "node0/nic0 -> leaf0", "the edge that binds")
    near(program, dgx["loads"]["busbw_gbs"], 2 * 31 / 32 * 2**30 / dgx["loads"]["time_us"] / 1e3, "bus bandwidth")
    table = list(csv.DictReader(io.StringIO(program("topology", "dgx-h100", "--nodes", "4", "--csv").out)))
    program.equal([int(row["links"]) for row in table], [row["links"] for row in dgx["tiers"]], "topology --csv")
    torus = document(program, "tpu-v4-64")
    link = torus["tiers"][0]["slowest_gbs"]
    near(program, torus["bisection"]["gbs"], 2 * 16 * link, "4x4x4: sixteen rings are cut twice")
    cube = document(program, "dgx1-v100")  # two quads, joined by four pairs of which two have two links
    halves = sum({"0-4": 2, "1-5": 2, "2-6": 1, "3-7": 1}.values())
    nvlink = min(row["slowest_gbs"] for row in cube["tiers"] if row["link"].startswith("nvlink"))
    sockets = next(row for row in cube["tiers"] if row["between"] == ["root complex", "root complex"])
    near(program, cube["bisection"]["gbs"], halves * nvlink + sockets["slowest_gbs"],
         "the quads of a cube mesh, and pairs without a link by way of the sockets")
    paths = {row["by"]: row for row in document(program, "srv-8x-4090")["reaches"]}
    program.equal(list(paths), ["PCIe, through host memory"], "GeForce boards bounce through host memory")
    mixed = document(program, "dgx-h100")
    near(program, mixed["bisection"]["gbs"], 4 * ports["nvlink4"]["slowest_gbs"], "four chips send by NVSwitch")


def fabrics(program):
    classic = ("dgx-h100", "--nodes", "64", "--fabric", "fat-tree-ndr")
    full = document(program, *classic)
    thin = document(program, *classic, "--set", "fabric.oversubscription=4")
    near(program, full["bisection"]["gbs"], 4 * thin["bisection"]["gbs"], "oversubscription of 4")
    near(program, thin["switches"][0]["oversubscription"], 4, "down : up")
    rails = document(program, "dgx-h100", "--nodes", "64", "--fabric", "rail-optimized-ndr")
    program.expect(rails["diameter"]["hops"] >= full["diameter"]["hops"], "rails meet at the spine")
    large = document(program, "dgx-h100", "--nodes", "12500")
    program.equal(large["vertices"]["chip"], 100_000, "a hundred thousand chips")


def sizes_of(classes):
    return next((size for name, size in SIZES.items() if name in classes), 12.0)


def boxes_of(root):
    """Rectangles of boxes, and what texts take at most (a hair less than the layout allows for)."""
    boxes = [tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
             for box in root.iter(f"{SVG}rect") if re.fullmatch(r"hue\d", box.get("class", ""))]
    texts = []
    for text in root.iter(f"{SVG}text"):
        classes = text.get("class", "").split()
        size = sizes_of(classes)
        width = 0.52 * size * len(text.text)
        x = float(text.get("x")) - (width / 2 if "middle" in classes else 0)
        texts.append((x, float(text.get("y")) - 0.75 * size, width, 0.9 * size))
    return boxes, texts


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def inside(a, b):
    return b[0] <= a[0] and b[1] <= a[1] and a[0] + a[2] <= b[0] + b[2] and a[1] + a[3] <= b[1] + b[3]


def segments_of(root):
    """Straight wires."""
    for path in root.iter(f"{SVG}path"):
        if "C" in path.get("d"):
            continue
        points = [tuple(map(float, pair.split(" "))) for pair in re.split("[ML]", path.get("d")) if pair]
        yield from zip(points, points[1:])


def crosses(segment, box):
    """Sampled: does the segment run through the box, its edge left out?"""
    (x1, y1), (x2, y2) = segment
    for i in range(1, 40):
        x, y = x1 + (x2 - x1) * i / 40, y1 + (y2 - y1) * i / 40
        if box[0] + 1 < x < box[0] + box[2] - 1 and box[1] + 1 < y < box[1] + box[3] - 1:
            return True
    return False


def read_picture(program, name, path):
    root = xml.parse(path).getroot()
    view = tuple(map(float, root.get("viewBox").split()))
    boxes, texts = boxes_of(root)
    for i, box in enumerate(boxes):
        program.expect(inside(box, view), f"{name}: box {i} is on the picture")
        program.expect(not any(overlap(box, other) for other in boxes[:i]), f"{name}: box {i} covers another")
        program.expect(not any(crosses(wire, box) for wire in segments_of(root)), f"{name}: a wire runs over box {i}")
    for i, text in enumerate(texts):
        program.expect(inside(text, view), f"{name}: text {i} is on the picture")
        program.expect(not any(overlap(text, other) for other in texts[:i]), f"{name}: text {i} covers another")
        program.expect(all(inside(text, box) or not overlap(text, box) for box in boxes), f"{name}: text {i} leaves its box")
    return root


def pictures(program):
    nodes = sorted(path.stem for path in (program.source / "topologies" / "nodes").glob("*.toml"))
    drawn = 0
    for node in nodes:
        cards = "[nic]" in (program.source / "topologies" / "nodes" / f"{node}.toml").read_text(encoding="utf-8")
        for count in (1, 3) if cards else (1,):
            name = f"{node}-{count}"
            words = ("topology", node, "--nodes", count, "--svg", f"{name}.svg", "--dot", f"{name}.dot")
            result = program(*words)
            program.equal((result.code, result.err), (0, ""), f"{words}")
            if result.code != 0:
                continue
            read_picture(program, name, program.here / f"{name}.svg")
            graph = read_dot((program.here / f"{name}.dot").read_text(encoding="utf-8"))
            program.expect(len(graph.clusters) >= 1 and graph.nodes, f"{name}: a cluster for each sort of node")
            inside_clusters = [one for _, members in graph.clusters.values() for one in members]
            program.expect(len(set(inside_clusters)) == len(inside_clusters), f"{name}: each box in one cluster")
            drawn += 1
    program.expect(drawn >= len(nodes), "every node is drawn")
    loaded(program)


def loaded(program):
    words = ("topology", "dgx-h100", "--nodes", "32", "--collective", "all_reduce", "--svg", "a.svg", "--dot", "a.dot")
    program.equal(program(*words).code, 0, "a picture with loads")
    root = read_picture(program, "loads", program.here / "a.svg")
    texts = [text.text for text in root.iter(f"{SVG}text")]
    program.expect("DGX H100 × 32" in texts, "nodes that look alike are drawn once")
    program.expect(any(re.search(r"256 × .*load \d+\.\d %", text) for text in texts), "what the cards carry")
    program.expect(any("binding" in path.get("class") for path in root.iter(f"{SVG}path")), "the edge that binds")
    graph = read_dot((program.here / "a.dot").read_text(encoding="utf-8"))
    program.expect(any("load" in edge[2]["label"] for edge in graph.edges), "loads as labels")
    again = pathlib.Path(program.here / "a.svg").read_bytes()
    program(*words)
    program.equal(pathlib.Path(program.here / "a.svg").read_bytes(), again, "the same picture twice")


def refusals(program):
    for words, hint in (((), "dgx"), (("dgx-h10",), "dgx-h100"), (("dgx-h100", "--size", "1GiB"), "--collective"),
                        (("dgx-h100", "--collective", "all_redcue"), "all_reduce"),
                        (("dgx-h100", "--collective", "all_reduce", "--size", "1..2"), "--size"),
                        (("dgx-h100", "--set", "fabric.oversubscription=4"), "--fabric"),
                        (("dgx-h100", "--collective", "all_reduce", "--ranks", "9"), "9"),
                        (("dgx-h100", "--nodes", "0"), "--nodes")):
        result = program("topology", *words)
        program.expect(result.code == 2 and hint in result.err, f"topology {words}: {result.code} {result.err!r}")
    lost = program("topology", "dgx-h100", "--svg", "no/such/folder/a.svg")
    program.equal(lost.code, 74, "a picture that cannot be written")
