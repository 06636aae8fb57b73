"""Labels of clusters, derived from the titles and words of their issues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from octavo.core.sentences import content_words, fold, shorten, stems

from .analyzing import Issue
from .clustering import Clustering, count_words

MAX_LABEL = 80
_MAX_EXAMPLES = 2
_PHRASES = 4

_ICONS = (
    ("key", "password login log sign signin sso saml token authent 2fa credenti account"),
    ("credit-card", "invoic bill payment pay price refund card charg subscript plan"),
    ("download", "instal download setup upgrad updat version"),
    ("server", "deploy host server docker kubernet contain memori disk"),
    ("globe", "domain dns url hostnam redirect certif ssl https"),
    ("code", "api endpoint request json sdk librari client webhook curl"),
    ("code-branch", "git github gitlab branch commit merg repositori sync"),
    ("magnifying-glass", "search find index queri filter"),
    ("file-export", "export import pdf csv backup restor migrat"),
    ("users", "team member user invit role permiss access guest"),
    ("bell", "notif email mail alert remind"),
    ("language", "translat languag local"),
    ("image", "imag pictur logo icon upload file attach"),
    ("gauge-high", "slow perform latenc timeout speed limit"),
    ("triangle-exclamation", "error fail crash bug broken exception wrong"),
)
_DEFAULT_ICON = "circle-question"


class ClusterDescription(Struct, frozen=True):
    label: str
    summary: str
    icon: str


def describe(clustering: Clustering, cluster_id: str, issues: Sequence[Issue]) -> ClusterDescription:
    """Describe a cluster from some of its issues: the title closest to all of them, the phrases that most of them
    share, and other titles."""
    ranked = sorted(
        issues,
        key=lambda issue: (
            -clustering.likeness(count_words(issue.title, issue.summary), cluster_id),
            len(issue.title),
            issue.title,
        ),
    )
    label = shorten(ranked[0].title, MAX_LABEL)
    phrases = key_phrases([issue.text for issue in issues])
    examples = list(dict.fromkeys(issue.title for issue in ranked if issue.title != ranked[0].title))
    parts = [f"About {', '.join(phrases)}."] if phrases else []
    parts += [f"Also asked: “{shorten(title, MAX_LABEL)}”" for title in examples[:_MAX_EXAMPLES]]
    return ClusterDescription(label, " ".join(parts) or label, choose_icon([issue.text for issue in issues]))


def key_phrases(texts: Sequence[str]) -> list[str]:
    """Return the words and pairs of adjacent words that most of these strings share, each in its most common
    spelling."""
    counts: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], Counter[str]] = {}
    for text in texts:
        words, roots = content_words(text), stems(text)
        seen: set[tuple[str, ...]] = set()
        for size in (1, 2):
            for at in range(len(roots) - size + 1):
                key = tuple(roots[at : at + size])
                # The words in a pair must be adjacent in the text; otherwise, no one would recognize the
                # phrase.
                if size == 2 and fold(" ".join(words[at : at + 2])) not in fold(text):
                    continue
                seen.add(key)
                written.setdefault(key, Counter())[" ".join(words[at : at + size]).lower()] += 1
        counts.update(seen)
    least = max(2, len(texts) // 3) if len(texts) > 1 else 1
    ranked = sorted(
        (key for key, count in counts.items() if count >= least),
        key=lambda key: (-counts[key] * (1 + 0.6 * (len(key) - 1)), key),
    )
    chosen: list[tuple[str, ...]] = []
    for key in ranked:
        if not any(set(key) & set(other) for other in chosen):
            chosen.append(key)
        if len(chosen) == _PHRASES:
            break
    return [written[key].most_common(1)[0][0] for key in chosen]


def choose_icon(texts: Sequence[str]) -> str:
    """Return the icon whose words occur in these strings most often; the default icon if they occur in fewer than
    half of the strings."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(stems(text)))
    best, icon = 0, _DEFAULT_ICON
    for name, words in _ICONS:
        found = sum(counts[word] for word in words.split())
        if found > best:
            best, icon = found, name
    return icon if best * 2 >= len(texts) else _DEFAULT_ICON
