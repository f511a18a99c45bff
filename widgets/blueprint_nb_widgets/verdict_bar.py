"""The verdict: fits or not in words, sign and colour; then the figures; then the smallest fix."""

from __future__ import annotations

from blueprint_nb.analysis import Verdict

from .markup import escape, span

_SIGNS = {True: "✓", False: "✕"}


def verdict_html(verdict: Verdict) -> str:
    """The bar. Screen readers are told when it changes."""
    kind = "fits" if verdict.fits else "short"
    sign = f'<span class="bp-sign" aria-hidden="true">{_SIGNS[verdict.fits]}</span>'
    texts = (verdict.memory, verdict.latency, verdict.throughput, verdict.bound, verdict.basis, verdict.unasked)
    figures = "".join(span("figure", text) for text in texts if text)
    fix = f'<span class="bp-fix">Smallest fix: {escape(verdict.fix)}</span>' if verdict.fix else ""
    return (
        f'<div class="bp-verdict bp-{kind}" role="status" aria-live="polite">{sign}'
        f'{span("headline", verdict.headline)}<div class="bp-figures">{figures}{fix}</div></div>'
    )
