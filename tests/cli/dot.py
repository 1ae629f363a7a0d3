"""A strict reader of the DOT language (https://graphviz.org/doc/info/lang.html), as far as undirected graphs go."""

import re

TOKEN = re.compile(r"""\s*(?:(?P<edge>--)|(?P<mark>[{}\[\]=;,])|"(?P<quoted>(?:[^"\\\n]|\\.)*)"
                   |(?P<number>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![A-Za-z_]))
                   |(?P<name>[A-Za-z_\u0080-\uffff][A-Za-z_0-9\u0080-\uffff]*))""", re.VERBOSE)


class Graph:
    def __init__(self):
        self.nodes = {}     # name → attributes
        self.edges = []     # (a, b, attributes)
        self.clusters = {}  # name → (attributes, node names)


class Reader:
    def __init__(self, text):
        self.tokens = []
        at = 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise ValueError(f"no DOT at {text[at:at + 30]!r}")
            self.tokens.append((found.lastgroup, found.group(found.lastgroup)))
            at = found.end()
        self.tokens.append(("end", ""))
        self.graph = Graph()

    def take(self, *wanted):
        kind, text = self.tokens.pop(0)
        if kind not in wanted and text not in wanted:
            raise ValueError(f"{text!r} in place of one of {wanted}")
        return text

    def name(self):
        return self.take("name", "number", "quoted")

    def at(self, text):
        return self.tokens[0] in (("mark", text), ("edge", text), ("name", text))

    def attributes(self):
        found = {}
        while self.at("["):
            self.take("[")
            while not self.at("]"):
                key = self.name()
                self.take("=")
                if key in found:
                    raise ValueError(f"{key} twice")
                found[key] = self.name()
                if self.at(",") or self.at(";"):
                    self.take(",", ";")
            self.take("]")
        return found

    def block(self, cluster):
        own, members = {}, []
        self.take("{")
        while not self.at("}"):
            self.statement(own, members)
            self.take(";") if self.at(";") else None
        self.take("}")
        if cluster:
            self.graph.clusters[cluster] = (own, members)

    def statement(self, own, members):
        if self.at("subgraph"):
            self.take("name")
            return self.block(self.name())
        first = self.name()
        if self.at("="):
            self.take("=")
            own[first] = self.name()
        elif first in ("graph", "node", "edge"):
            own.update({(first, key): value for key, value in self.attributes().items()})
        elif self.at("--"):
            self.take("edge")
            second = self.name()
            for end in (first, second):
                if end not in self.graph.nodes:
                    raise ValueError(f"an edge to {end}, which nothing declares")
            self.graph.edges.append((first, second, self.attributes()))
        else:
            if first in self.graph.nodes:
                raise ValueError(f"{first} declared twice")
            self.graph.nodes[first] = self.attributes()
            members.append(first)
        return None

    def read(self):
        self.take("graph")
        self.name()
        self.block(None)
        self.take("end")
        return self.graph


def read_dot(text):
    return Reader(text).read()
