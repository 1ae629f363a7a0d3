"""Layers look down only, and each heavy header stays in the one folder that pays for it."""

import re

from common import arguments, files, finish

# What each room of sim/ may include from, itself aside. sim/CMakeLists.txt draws the same picture.
ALLOWED = {
    "base": "",
    "spec": "base",
    "foreign": "spec base",
    "law": "spec base",
    "network": "spec base",
    "plan": "law network spec base",
    "engine": "plan law network spec base",
    "analysis": "engine plan law network spec base",
    "pipeline": "analysis engine plan law network spec base",
    "study": "pipeline analysis engine plan law network foreign spec base",
    "probe": "study pipeline analysis engine plan law network foreign spec base",
    "report": "study pipeline analysis engine plan law network foreign spec base",
    "api": "report study pipeline analysis engine plan law network foreign spec base",
    "cli": "api report study pipeline analysis engine plan law network foreign spec base",
}

# Seconds of compile time per file that includes them: only in .cpp files of these folders.
HEAVY = {
    r"toml\+\+/|toml\.hpp": {"spec"},
    r"boost/": {"network"},
    r"nlohmann/(?!json_fwd)": {"report", "foreign"},
    r"CLI/": {"cli"},
    r"omp\.h": {"study", "probe"},
    r"Eigen/|nlopt": {"study"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path, sim):
    inside = path.relative_to(sim)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def check_own(place, room, target, sim):
    if not (sim / target).is_file():
        return f"{place}: includes {target}, which is not written from the root of sim/"
    other = room_of(sim / target, sim)
    if other != room and other not in ALLOWED[room].split():
        return f"{place}: {room} may not look at {other} ({target})"
    return None


def check_heavy(place, room, path, target):
    for pattern, rooms in HEAVY.items():
        if re.match(pattern, target) and (room not in rooms or path.suffix != ".cpp"):
            return f"{place}: {target} belongs in .cpp files of {', '.join(sorted(rooms))} only"
    return None


def main():
    source = arguments().source
    sim = source / "sim"
    problems = []
    sources = files(source, "sim/**/*.cpp", "sim/**/*.hpp")
    for path in sources:
        room = room_of(path, sim)
        if room not in ALLOWED:
            problems.append(f"{path.relative_to(source)}: '{room}' is no room of sim/")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            place = f"{path.relative_to(source)}:{number}"
            if include[1] == '"':
                problems.append(check_own(place, room, include[2], sim))
            else:
                problems.append(check_heavy(place, room, path, include[2]))
    finish([p for p in problems if p], len(sources), "files of sim/")


main()
