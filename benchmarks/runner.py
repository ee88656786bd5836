"""Run the benchmarks: bench_<family>.py files with a list CASES, one process per case, one table at the end.

scripts/bench                     every family
scripts/bench foundation          one family
scripts/bench foundation --case kmeans --quick
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from case import OURS, Case, Figures, growth, measure, measure_around

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"


# One case, in a process of its own


def run_case(family: str, index: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a case and return it as plain data."""
    case = importlib.import_module(f"bench_{family}").CASES[index]
    load = os.getloadavg()[0]
    seconds = 3.0 if options.quick else options.seconds
    figures = measure(case, seconds=seconds, memory=not options.quick, sweep=not options.quick)
    report = describe(case, figures, load)
    if not options.quick:
        near = measure_around(case, options.seed, seconds)
        report["seed"] = options.seed
        report["around"] = [describe_near(case, shape, found) for shape, found in near.items()]
    return report


def describe_near(case: Case, shape: str, figures: dict[str, Figures]) -> dict[str, Any]:
    """Return the ratios to all peers at a drawn shape, and what is to be said of them."""
    ours = figures[OURS]
    peers = {name: row for name, row in figures.items() if name in case.peers}
    remarks = {name: row.trouble or remark(case, ours, row) for name, row in {OURS: ours, **peers}.items()}
    return {
        "shape": shape,
        "seconds": finite(ours.best),
        "ratios": {
            name: finite(row.best / ours.best) if ours.seconds else None for name, row in peers.items()
        },
        "remarks": {name: said for name, said in remarks.items() if said},
    }


def describe(case: Case, figures: dict[str, Figures], load: float) -> dict[str, Any]:
    ours = figures[OURS]
    rows = [
        {
            "name": name,
            "kind": "ours" if name == OURS else "floor" if name in case.floors else "peer",
            "version": version(name),
            "seconds": finite(row.best),
            "runs": len(row.seconds),
            "ratio": finite(row.best / ours.best) if name != OURS and ours.seconds else None,
            "quality": finite(row.quality),
            "memory_mb": finite(row.memory_mb),
            "growth": finite(growth(case.sizes, row.sweep)) if complete(row.sweep) else None,
            "sweep": [finite(second) for second in row.sweep],
            "remark": row.trouble or remark(case, ours, row),
        }
        for name, row in figures.items()
    ]
    return {
        "case": case.name,
        "note": case.note,
        "goal": case.goal,
        "better": case.better,
        "sizes": list(case.sizes),
        "load": [round(load, 2), round(os.getloadavg()[0], 2)],
        "contenders": rows,
    }


def complete(sweep: list[float]) -> bool:
    return len(sweep) > 1 and all(math.isfinite(second) and second > 0 for second in sweep)


def finite(value: float | None) -> float | None:
    return float(f"{value:.7g}") if value is not None and math.isfinite(value) else None


def remark(case: Case, ours: Figures, row: Figures) -> str:
    """Say which of the two results is the better one, if they differ."""
    if row is ours or row.quality is None or ours.quality is None:
        return ""
    if not case.as_good(ours.quality, row.quality):
        return "OURS IS WORSE"
    return "" if case.as_good(row.quality, ours.quality) else "worse result"


def version(name: str) -> str:
    try:
        return importlib.metadata.version(re.sub(r"\s*\(.*", "", name))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return ""


# All cases of a family


def families() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_family(family: str, options: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Run every case asked for in a fresh process, keep its report at once, and return all."""
    cases = importlib.import_module(f"bench_{family}").CASES
    chosen = [index for index, case in enumerate(cases) if options.case.lower() in case.name.lower()]
    reports = []
    for index in chosen:
        console.print(f"[dim]{family}: {cases[index].name} (load {os.getloadavg()[0]:.2f})[/dim]")
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "report.json"
            command = [sys.executable, __file__, family, "--one", str(index), "--out", str(out)]
            command += ["--seconds", str(options.seconds), "--seed", str(options.seed)] + [
                "--quick"
            ] * options.quick
            code = subprocess.run(command).returncode
            failed = {"case": cases[index].name, "contenders": [], "failed": f"process ended with {code}"}
            reports.append(json.loads(out.read_text()) if out.is_file() else failed)
        if not options.quick:
            write(family, reports[-1])
    return reports


def machine() -> dict[str, Any]:
    packages = ("gnomon", "numpy", "scipy", "numba", "scikit-learn")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


def processor() -> str:
    try:
        text = subprocess.run(["lscpu"], capture_output=True, text=True, env={"LC_ALL": "C"}).stdout
    except OSError:
        text = ""
    found = re.search(r"^Model name:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def results(family: str) -> Path:
    return RESULTS / f"{family}.json"


def write(family: str, report: dict[str, Any]) -> None:
    """Keep the report of a case; the others keep their last figures."""
    path = results(family)
    known = json.loads(path.read_text())["cases"] if path.is_file() else []
    order = [case.name for case in importlib.import_module(f"bench_{family}").CASES]
    report["machine"] = machine()
    merged = {one["case"]: one for one in [*known, report]}
    cases = [merged[name] for name in order if name in merged]
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps({"family": family, "cases": cases}, indent=1) + "\n")


# The table


def show(family: str, reports: list[dict[str, Any]], console: Console) -> None:
    table = Table(title=f"{family}: how many times longer than gnomon", title_justify="left")
    table.add_column("case", max_width=44)
    table.add_column("contender")
    for column in ("best", "ratio", "quality", "MB", "growth"):
        table.add_column(column, justify="right")
    table.add_column("remark", max_width=40)
    for report in reports:
        for number, row in enumerate(report["contenders"]):
            name = f"{row['name']} {row['version']}".strip()
            table.add_row("" if number else report["case"], name, *cells(report, row), row["remark"])
        if report.get("failed"):
            table.add_row(report["case"], OURS, *[""] * 5, f"[red]{report['failed']}[/red]")
        for near in report.get("around", []):
            for name, ratio in near["ratios"].items():
                told = f"[{color(ratio, 1.0)}]{ratio:.2f}x[/{color(ratio, 1.0)}]" if ratio is not None else ""
                said = near["remarks"].get(name) or near["remarks"].get(OURS, "")
                table.add_row(f"  at {near['shape']}", name, "", told, "", "", "", said)
        table.add_section()
    console.print(table)


def cells(report: dict[str, Any], row: dict[str, Any]) -> list[str]:
    seconds, ratio, memory = row["seconds"], row["ratio"], row["memory_mb"]
    hue = "dim" if row["kind"] == "floor" else color(ratio, report["goal"] or 1.0)
    return [
        f"{seconds:.4g} s" if seconds is not None else "",
        f"[{hue}]{ratio:.2f}x[/{hue}]" if ratio is not None else "",
        f"{row['quality']:.7g}" if row["quality"] is not None else "",
        f"{memory:.0f}" if memory is not None else "",
        f"n^{row['growth']:.2f}" if row["growth"] is not None else "",
    ]


def color(ratio: float | None, goal: float) -> str:
    return "red" if ratio and ratio < goal else "green"


def sound(reports: list[dict[str, Any]]) -> bool:
    """Say whether all our contenders ran, with results as good as the peers'."""
    rows = [row for report in reports for row in report["contenders"]]
    ran = all(row["seconds"] is not None for row in rows if row["kind"] == "ours")
    near = [one["remarks"] for report in reports for one in report.get("around", [])]
    return (
        ran
        and not any(OURS in said or "OURS IS WORSE" in said.values() for said in near)
        and not any(report.get("failed") for report in reports)
        and all(row["remark"] != "OURS IS WORSE" for row in rows)
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0])
    parser.add_argument("family", nargs="*", help=f"of {', '.join(families())}; all when left out")
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose name holds this text")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--quick", action="store_true", help="times only, in few runs; nothing is written")
    parser.add_argument("--seconds", type=float, default=20.0, help="time to spend on a case (20)")
    today = int(time.strftime("%Y%m%d"))
    parser.add_argument("--seed", type=int, default=today, help="draws the shapes around each case (the day)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.family) - set(families())
    if unknown:
        parser.error(f"no benchmarks for {', '.join(sorted(unknown))}; there are {', '.join(families())}")
    return options


def main() -> int:
    options = arguments()
    if options.one is not None:
        options.out.write_text(json.dumps(run_case(options.family[0], options.one, options)))
        return 0
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else 150)
    here = machine()
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items())
    console.print(
        f"{here['processor']}, {here['cores']} cores, Python {here['python']}; {versions}; load {load}"
    )
    good, everything = True, {}
    for family in options.family or families():
        reports = run_family(family, options, console)
        good &= sound(reports)
        everything[family] = reports
        show(family, reports, console)
        if not options.quick:
            console.print(f"written to {results(family).relative_to(HERE.parent)}")
    if options.json:
        print(json.dumps({"machine": here, "families": everything}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
