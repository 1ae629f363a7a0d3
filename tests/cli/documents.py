"""docs/reference is written from the tables that define it; a stale page fails here.

    python3 tests/cli/run.py --program build/release/sim/clustersim --source . --update
"""

PAGES = ["cli", "exit-codes", "report", "input"]


def documents(program, update):
    for page in PAGES:
        result = program("reference", page)
        program.equal((result.code, result.err), (0, ""), f"reference {page}")
        path = program.source / "docs" / "reference" / f"{page}.md"
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(result.out, encoding="utf-8")
        found = path.read_text(encoding="utf-8") if path.exists() else ""
        program.expect(found == result.out, f"docs/reference/{page}.md is stale: run tests/cli/run.py with --update")
