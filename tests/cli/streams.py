"""Standard output and error, colour, files, closed pipes, full disks, other folders."""

import json
import os
import pathlib
import pty
import subprocess


def streams(program):
    colour(program)
    files(program)
    pipes(program)
    folders(program)


def on_terminal(program, *words, **extra):
    """What the program prints when standard output is a terminal."""
    parent, child = pty.openpty()
    process = subprocess.Popen([str(program.path), *words], stdin=child, stdout=child, stderr=child,
                               cwd=program.here, env=program.environment(**extra))
    os.close(child)
    text = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    process.wait(timeout=120)
    os.close(parent)
    return text.decode("utf-8", "replace").replace("\r\n", "\n")


def has_terminals():
    """A bare chroot has no /dev/pts."""
    try:
        for end in pty.openpty():
            os.close(end)
        return True
    except OSError:
        print("no pseudo-terminals here: what a terminal shows is not tested")
        return False


def colour_on_terminals(program, plain, escape):
    program.expect(escape in on_terminal(program, "run", "dgx_h100"), "colour on a terminal")
    program.expect(escape not in on_terminal(program, "run", "dgx_h100", NO_COLOR="1"), "NO_COLOR on a terminal")
    program.equal(on_terminal(program, "run", "dgx_h100", "--color", "never"), plain,
                  "a terminal without colour shows what a pipe gets")


def colour(program):
    escape = "\x1b["
    plain = program("run", "dgx_h100").out
    program.expect(escape not in plain, "no colour in a pipe")
    if has_terminals():
        colour_on_terminals(program, plain, escape)
    forced = program("run", "dgx_h100", "--color=always", env=program.environment(NO_COLOR="1")).out
    program.expect(escape in forced, "--color always wins over NO_COLOR")
    ascii_text = program("run", "dgx_h100", "-q", env=program.environment(LC_ALL="C")).out
    program.expect(ascii_text.isascii(), "plain ASCII where the locale has no Unicode")
    program.expect(not program("run", "dgx_h100", "-q").out.isascii(), "Unicode where it has")


def files(program):
    here = program.here
    text = program("run", "dgx_h100").out
    for name, wanted in [("a.txt", text), ("a.json", program("run", "dgx_h100", "--json").out)]:
        result = program("run", "dgx_h100", "-o", name)
        program.equal((result.code, result.out), (0, ""), f"-o {name} leaves standard output alone")
        program.equal((here / name).read_text(encoding="utf-8"), wanted, f"-o {name} by its ending")
    (here / "a.json").write_text("old")
    program.equal(program("run", "dgx_h100", "-o", "a.json").code, 0, "-o replaces a file")
    json.loads((here / "a.json").read_text(encoding="utf-8"))
    program.equal(program("list", "chips", "-o", "chips.csv").code, 0, "-o FILE.csv")
    program.expect((here / "chips.csv").read_text().startswith("id,name,"), "-o FILE.csv writes CSV")
    program.equal(program("run", "dgx_h100", "-o", "a.pdf").code, 2, "-o with an unknown ending")
    program.equal(program("run", "dgx_h100", "-o", "a.csv").code, 2, "-o with a format that run lacks")
    for place in ("no/such/folder/a.json", "/dev/full", "/proc/a.json"):
        result = program("run", "dgx_h100", "--json", "-o", place)
        program.equal((result.code, result.out), (74, ""), f"-o {place} cannot be written")
    link = here / "link.json"
    link.symlink_to("a.json")
    program.equal(program("run", "dgx_h100", "-o", "link.json").code, 0, "-o through a symbolic link")
    program.expect(link.is_symlink(), "the symbolic link stays")
    stray = [path.name for path in here.iterdir() if ".tmp" in path.name]
    program.equal(stray, [], "no temporary file stays")
    failed = program("run", "no-such-config", "-o", "never.json")
    program.expect(failed.code == 74 and not (here / "never.json").exists(), "a failed run writes no file")


def pipes(program):
    for words in (["list", "chips"], ["run", "dgx_h100", "--json"], ["help"]):
        reader, writer = os.pipe()
        os.close(reader)
        result = program(*words, stdout=writer)
        os.close(writer)
        program.equal((result.code, result.err), (0, ""), f"{words} into a closed pipe ends quietly")
    with open("/dev/full", "wb") as full:
        result = program("run", "dgx_h100", stdout=full)
    program.equal(result.code, 74, "standard output on a full disk")
    program.expect("No space left" in result.err, f"a full disk is named: {result.err!r}")
    closed = subprocess.run(["sh", "-c", '"$0" list >&-', str(program.path)], cwd=program.here, check=False,
                            env=program.environment(), capture_output=True, timeout=120)
    program.equal(closed.returncode, 74, "closed standard output")
    quiet = program("run", "dgx_h100", "-q", "-o", "q.json")
    program.equal((quiet.out, quiet.err), ("", ""), "-q says nothing on standard error")


def folders(program):
    config = program.config("dgx_h100")
    here = program("run", config, "--json")
    root = program("run", config, "--json", cwd=pathlib.Path("/"))
    program.equal(root.code, 0, "runs from /")
    program.equal(json.loads(root.out)["results"], json.loads(here.out)["results"], "the folder does not matter")
    program.equal(program("run", "configs/dgx_h100.toml", cwd=program.source).code, 0, "a relative path")
    program.equal(program("run", "dgx-h100").code, 0, "a config by name, '-' for '_'")
    for extra in ({"words": ["--data", str(program.here / "data")], "env": {}},
                  {"words": [], "env": {"CLUSTERSIM_DATA": str(program.here / "data")}}):
        chips = program.here / "data" / "models" / "chips"
        chips.mkdir(parents=True, exist_ok=True)
        own = (program.source / "models/chips/h100-sxm5-80gb.toml").read_text(encoding="utf-8")
        (chips / "h100-sxm5-80gb.toml").write_text(own.replace('"3.35 TB/s"', '"4.00 TB/s"'), encoding="utf-8")
        shown = program("roofline", "h100-sxm5-80gb", "--json", *extra["words"],
                        env=program.environment(**extra["env"]))
        found = json.loads(shown.out)["chips"][0]["memory"][0]["bandwidth_bytes_per_s"]
        program.equal(found, 4e12, f"data found through {extra}")
