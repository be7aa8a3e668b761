"""How a rank should wait: the share of a core that each policy uses, and how soon the rank continues."""

from __future__ import annotations

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.compare import best, better, no_worse
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, enumerate_words
from kumiki.results.row import Row

HEADING = "Waiting"


def processor_time(results: Results) -> dict[str, Row]:
    """The share of a core that a whole wait used, by policy."""
    return {
        row.text("policy"): row for row in results.where("wait.cpu") if row.trusted and not row.count("after_ms", 0)
    }


def wake_up(results: Results) -> dict[str, Row]:
    return {row.text("policy"): row for row in results.where("wait.wakeup") if row.usable}


def advise(results: Results) -> list[Advice]:
    shares, delays = processor_time(results), wake_up(results)
    policies = [policy for policy in shares if policy in delays]
    if len(policies) < 2:
        return []
    facts = [f"{policy} {amount(shares[policy])} and {amount(delays[policy])}" for policy in policies]
    frugal = _policy_of(best(delays[policy] for policy in _frugal(policies, shares)), delays)
    quick = _policy_of(best(delays[policy] for policy in policies), delays)
    text = f"Share of a core that a waiting rank uses, and its delay after the signal: {enumerate_words(facts)}."
    others = [delays[policy] for policy in policies if policy != frugal]
    if all(no_worse(delays[frugal], other) for other in others):
        text += f" Use `--wait {frugal}` everywhere: no policy wakes a rank sooner."
    elif better(delays[quick], delays[frugal]) and better(shares[frugal], shares[quick]):
        text += f" Use `--wait {frugal}` if others need the cores, and `--wait {quick}` if every wait is short."
    else:
        text += f" These samples do not show which policy to use. {again(results, ['wait'])}"
    rows = [row for policy in policies for row in (shares[policy], delays[policy])]
    return [say("waiting", HEADING, text, rows)]


def _frugal(policies: list[str], shares: dict[str, Row]) -> list[str]:
    """The policies that use the least, or no more than that by any difference that matters."""
    least = min((shares[policy] for policy in policies), key=lambda row: row.value)
    return [policy for policy in policies if shares[policy].value - least.value <= least.resolution]


def _policy_of(row: Row | None, delays: dict[str, Row]) -> str:
    return next(policy for policy, other in delays.items() if other is row)
