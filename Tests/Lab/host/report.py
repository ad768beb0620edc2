"""Holds what the guests reported against what was planned."""

import os


class Outcome:
    def __init__(self, status, reason="", evidence=()):
        self.status, self.reason, self.evidence = status, reason, list(evidence)


def outcomes(plan, lines, complaint):
    """One outcome for every planned test: silence is failure, and so is a result nobody planned."""
    evidence, found = {}, {}
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "evidence":
            name, _, text = rest.partition("| ")
            evidence.setdefault(name, []).append(text)
        elif line.startswith("not ok "):
            name, _, reason = line[len("not ok ") :].partition(": ")
            found.setdefault(name, Outcome("failed", reason, evidence.get(name, [])))
        elif kind == "skip":
            name, _, reason = rest.partition(": ")
            found.setdefault(name, Outcome("skipped", reason))
        elif kind == "ok":
            found.setdefault(rest, Outcome("passed"))
    silence = Outcome("failed", f"no result: the guest {complaint}" if complaint else "no result")
    result = {name: found.pop(name, silence) for name in plan}
    result.update({name: Outcome("failed", "reported, but never planned") for name in found})
    return result


def print_outcomes(guest, result, out):
    for name, outcome in result.items():
        mark = {"passed": "ok", "failed": "NOT OK", "skipped": "SKIPPED"}[outcome.status]
        print(f"{mark:8}{guest}: {name}{': ' if outcome.reason else ''}{outcome.reason}", file=out)
        for text in outcome.evidence:
            print(f"        | {text}", file=out)


def summarise(results, out, name="lab"):
    """Prints the last line; returns the exit status. Where nothing may be skipped, a skipped test has failed."""
    every = [outcome.status for result in results for outcome in result.values()]
    passed, failed, skipped = (every.count(status) for status in ("passed", "failed", "skipped"))
    print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped", file=out)
    strict = os.environ.get("CI") == "true"
    return 1 if failed or not passed or (strict and skipped) else 0
