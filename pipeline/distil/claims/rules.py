"""Sentences judged by the cue table: one scan for stems, then the rules on the sentences around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pipeline.distil import actions, tables
from pipeline.distil.claims.prose import MAX_QUOTE, Prose, Sentence
from pipeline.distil.project import project
from pipeline.distil.tables import CueKind
from pipeline.lexicon import repositories
from pipeline.records import MAINTAINER_ROLES, Document, Fact, Outcome, PostKind, warm
from pipeline.text import language_of

#: Longer "sentences" are logs or tables whose line ends were lost. Of 3,376 accepted sentences of the corpus 99 % have
#: at most 242 characters, the longest has 453; without this limit none longer is accepted.
_MAX_SENTENCE = 480
#: A thread has fewer cue sentences than this (8,227 threads with errors: median 4, 99 % at most 39, most 465); beyond
#: it, somebody pasted a book.
_MAX_SENTENCES = 1500

#: Orders are read in posts up to this length: of 45 that were read without a limit 20 were lines of pasted scripts,
#: logs and lists of changes, nearly all in longer posts.
_MOST_ORDERED = 1_500
#: A cause needs this many words of four letters or more from the cue on (the cue itself has one or two), or this many
#: characters in Chinese: below, labelled sentences pointed at something outside themselves. Who maintains the project
#: says it in fewer ("The root cause is a race between two readers."): of 26 such short ones of others five were wrong.
_LEAST_WORDS, _LEAST_OF_MAINTAINER = 6, 5
_LEAST_HAN, _LEAST_HAN_OF_MAINTAINER = 12, 9
#: A product and version that a sentence says to work stand in its match or begin so close behind it.
_PINNED = 30
#: Two stems that share fewer letters than this at their ends do not follow each other in real sentences.
_LEAST_OVERLAP = 3
_LONG_WORD = warm.pattern(r"[A-Za-z_][\w.]{3,}")

_PR = warm.pattern(
    r"https?://github\.com/(?P<repo>[\w.-]{1,60}/[\w.-]{1,80})/(?P<path>pull|issues)/(?P<number>\d{1,6})"
    # behind a path or an address `#5` is a place in a page ("blob/0.13.0/CHANGELOG.md#0130")
    r"|(?:(?<![A-Za-z0-9_/.-])(?P<short>[A-Za-z0-9_.-]{1,40}/[A-Za-z0-9_.-]{1,60})|(?<![\w/.-])(?P<near>[A-Za-z][\w.-]{0,39})"
    r"|(?<![A-Za-z0-9_/.-]))#(?P<n>\d{1,6})\b"
    r"|(?:https?://github\.com/(?P<home>[\w.-]{1,60}/[\w.-]{1,80}))?/commit/(?P<sha>[0-9a-f]{7,40})"
    r"|(?:(?P<of>[\w.-]{1,40}/[\w.-]{1,60})@)?(?<![\w/.-])(?P<bare>(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40})(?![\w.-])"
)
#: A number that a build server counts with: "Integrated in Pond-trunk #427 (See [http://hudson.fixture.dev/...])".
_BUILD = warm.pattern(r"\b(?:build|job|run):? #\d|\b(?:hudson|jenkins)\b|\bintegrated in [\w.-]{1,40} #", re.IGNORECASE)
_COMMIT_HOME = warm.pattern(r"(?<![\w./-])(?:https?://github\.com/)?([\w.-]{1,60}/[\w.-]{1,80})(?:@|/commit/)\Z")
_LONGEST_HOME = 170
#: What a sentence without a digit cannot have.
_NUMBERED = frozenset({"version", "pinned"})
_DIGIT = warm.pattern(r"\d")
_LAST_WORD = warm.pattern(r"([A-Za-z][A-Za-z0-9_.-]{0,39})[\s(`*_\[]{1,4}\Z")
_RELEASE_OF = warm.pattern(r"\b(?:version|release|package|wheels?) of (?!the |this |our )(\w+)")
_BRANCH = warm.pattern(r"\b(master|main|develop|dev|trunk|nightly|nightlies|tf-nightly|head)\b", re.IGNORECASE)
#: Behind it stands where the error is no more.
_FIXED = warm.pattern(r"\b(?:fixed|resolved|solved|corrected)\b|修复|解决", re.IGNORECASE)
_PARTS = warm.pattern(r"[-_.]")
_VERSION = warm.pattern(
    r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*(?:[.+-]?(?:rc|dev|post|a|b)\d*)?)(?![\w.]*\d|\.[x*])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that a rule accepted; `start` and `end` are the words to quote."""

    cue: tables.Cue
    sentence: Sentence
    start: int
    end: int
    fact: Fact | None
    key: str
    lang: str


@cache
def _scanner() -> tuple[tuple[re.Pattern[str], ...], dict[str, tuple[int, ...]]]:
    """(patterns for all stems, stem -> indices of the rules that it wakes).

    Stems that begin a word and the others ("n't help", Chinese) are looked for apart: the test for a word's beginning
    is cheaper than the first branch of the tree, and it is the same for nearly all stems.
    """
    wakes: dict[str, list[int]] = {}
    for index, cue in enumerate(tables.cues()):
        for stem in cue.stems:
            wakes.setdefault(stem, []).append(index)
    stems = sorted(wakes, key=lambda s: (-len(s), s))
    starts: dict[str, list[str]] = {}
    for stem in stems:
        for length in range(min(_LEAST_OVERLAP, len(stem)), len(stem) + 1):
            starts.setdefault(stem[:length], []).append(stem)
    words = [stem for stem in stems if "a" <= stem[0] <= "z" and not stem.startswith("n't")]
    others = sorted(set(stems) - set(words))
    patterns = (warm.pattern(rf"(?<![a-z])(?:{tables.trie(words)})"), warm.pattern(tables.trie(others)))
    return patterns, {stem: _woken(stem, starts, wakes) for stem in stems}


def _hits(prose: Prose) -> Iterator[re.Match[str]]:
    """The stems that the prose holds, in the order of the text."""
    words, others = _scanner()[0]
    for span in prose.spans:
        rare = list(others.finditer(prose.lowered, *span))
        hits = words.finditer(prose.lowered, *span)
        yield from sorted([*hits, *rare], key=re.Match.start) if rare else hits


def _woken(stem: str, starts: dict[str, list[str]], wakes: dict[str, list[int]]) -> tuple[int, ...]:
    """The rules of `stem` and of every stem that begins inside it: the scan passes over those once it matched."""
    found = set(wakes[stem])
    for at in range(len(stem)):
        rest = stem[at:]
        inside = (rest[:length] for length in range(1, len(rest) + 1))
        for other in (*inside, *starts.get(rest, ())):
            found.update(wakes.get(other, ()))
    return tuple(sorted(found))


@cache
def _orders() -> tuple[re.Pattern[str], tuple[int, ...]]:
    """(how an order begins: a verb in capitals, or at the start of a line; the rules that judge orders)."""
    orders = tables.table("cues.toml")["orders"]
    capital = tables.trie([verb.capitalize() for verb in orders["verbs"]])
    rules = tuple(i for i, cue in enumerate(tables.cues()) if not cue.stems)
    return warm.pattern(rf"(?:{capital})\b|\n(?:{tables.trie(orders['plain'])})\b"), rules


def findings(prose: Prose) -> list[Finding]:
    """What the rules find, in the order of the text, at most one finding a sentence."""
    found = list(_cued(prose))
    taken = {finding.sentence.start for finding in found}
    found += [order for order in _ordered(prose) if order.sentence.start not in taken]
    return sorted(found, key=lambda finding: finding.sentence.start)


def _ordered(prose: Prose) -> Iterator[Finding]:
    """Sentences of comments that begin with an order: "Set `X=Y`" needs no cue, its place in the thread is the cue."""
    starts, rules = _orders()
    posts = prose.document.posts
    opening = {post.author_hash for post in posts if post.kind == PostKind.BODY} - {None}
    for post in posts:
        if post.kind not in (PostKind.COMMENT, PostKind.REVIEW) or post.is_bot or post.author_hash in opening:
            continue
        if post.end - post.start > _MOST_ORDERED:
            continue
        for hit in starts.finditer(prose.visible, max(0, post.start - 1), post.end):
            at = hit.start() + hit.group().startswith("\n")
            sentence = prose.sentence(at)
            if sentence is not None and sentence.start == at:
                yield from _judged(sentence, list(rules), prose.document)


def _cued(prose: Prose) -> Iterator[Finding]:
    wakes = _scanner()[1]
    pending: Sentence | None = None
    awake: set[int] = set()
    count = 0
    for hit in _hits(prose):
        sentence = pending if pending and hit.start() < pending.end else prose.sentence(hit.start())
        if sentence is None:
            continue
        if sentence is not pending:
            if pending is not None:
                yield from _judged(pending, sorted(awake), prose.document)
            count += 1
            if count > _MAX_SENTENCES:
                return
            pending, awake = sentence, set()
        awake.update(wakes[hit.group()])
    if pending is not None:
        yield from _judged(pending, sorted(awake), prose.document)


def _judged(sentence: Sentence, awake: list[int], document: Document) -> Iterator[Finding]:
    if len(sentence.text) > _MAX_SENTENCE:
        return
    text = sentence.text
    lang = language_of(text)
    if lang not in {"en", "zh"}:
        return
    has_digit = bool(_DIGIT.search(text))
    for index in awake:
        cue = tables.cues()[index]
        if cue.needs in _NUMBERED and not has_digit:
            continue
        found = _applied(cue, sentence, document) if cue.lang == lang else None
        if found is not None:
            yield found
            return


def _applied(cue: tables.Cue, sentence: Sentence, document: Document) -> Finding | None:
    text = sentence.text
    first = cue.pattern.search(text)
    if first is None or (cue.refuse is not None and cue.refuse.search(actions.without_code(text))):
        return None
    last = cue.then.search(text, first.end()) if cue.then is not None else None
    if cue.then is not None and last is None:
        return None
    if cue.kind == CueKind.REMEDY and cue.outcome == Outcome.WORKED and persists(text):
        return None
    # asked late: few sentences come so far, and these are slow patterns; the tables of acts behind them are slower
    if cue.kind != CueKind.ASK and is_unsure(text, cue.lang, _hedged_as(cue)):
        return None
    least, most = first.start(), last.end() if last else first.end()
    if cue.act == "after" and last is not None:
        begin, finish = last.start(), len(text)
    else:
        begin, finish = first.start(), last.start() if last else len(text)
    if cue.needs == "pinned":
        finish = min(finish, first.end() + _PINNED)
    found = _stated(cue, sentence, begin, finish, document)
    if found is None:
        return None
    fact, key, ends = found
    span = _window(sentence, least, min(max(most, ends), len(text)))
    return Finding(cue, sentence, *span, fact, key, cue.lang) if span else None


def persists(text: str) -> bool:
    """True for a sentence that says that the error stays or came back; who begins with having met it too does not."""
    own = tables.own_case().match(text)
    return tables.persists().search(text, own.end() if own else 0) is not None


def is_unsure(text: str, lang: str, what: str) -> bool:
    """True for words that ask, plan or guess, whatever they would state; a hedge makes a "cause", a "fix" and what
    "worked" a guess, and nothing else (""). `lang` is "en" or "zh".
    """
    is_hedged = bool(what) and tables.hedges(lang, what).search(actions.without_code(text))
    return bool(is_hedged or tables.refusals(lang).search(text))


def _hedged_as(cue: tables.Cue) -> str:
    """What a hedge would take from a cue: "fix", "cause" or "worked"; "" from all others."""
    if cue.kind == CueKind.REMEDY:
        return "worked" if cue.outcome == Outcome.WORKED else ""
    return cue.kind.value if cue.kind in (CueKind.FIX, CueKind.CAUSE) else ""


def _stated(
    cue: tables.Cue, sentence: Sentence, begin: int, finish: int, document: Document
) -> tuple[Fact | None, str, int] | None:
    """(fact, key, where it ends) if the sentence has what the rule needs."""
    region = sentence.text[begin:finish]
    if cue.needs == "pinned":
        named = actions.versioned(region)
        pinned = Fact("remedy.pin", (("package", named[0]), ("version", named[1]))) if named else None
        return (pinned, actions.key(pinned), begin) if pinned else None
    if cue.kind in (CueKind.REMEDY, CueKind.ASK):
        act = actions.action(region, project(document))
        if act is not None:
            return (act.fact, act.key, begin + act.end) if not cue.only or act.fact.template in cue.only else None
        return (None, "", begin) if cue.needs == "object" and actions.has_object(region) else None
    if cue.kind == CueKind.FIX:
        fact = _fix(region, cue, document)
        return (fact, actions.key(fact), begin) if fact else None
    if cue.kind == CueKind.VERSION:
        named = actions.versioned(region)
        return (_versions("version.introduced", named), "|".join(named), begin) if named else None
    is_known = sentence.post >= 0 and document.posts[sentence.post].author_role in MAINTAINER_ROLES
    return (None, "", begin) if _says_enough(cue, region, is_known=is_known) else None


def _says_enough(cue: tables.Cue, region: str, *, is_known: bool) -> bool:
    """True if something is left beside the cue: words, or code; "this is because of that" says nothing."""
    if cue.needs != "words":
        return cue.needs == "text" or actions.has_object(region)
    if cue.lang == "zh":
        return len(region) >= (_LEAST_HAN_OF_MAINTAINER if is_known else _LEAST_HAN)
    least = _LEAST_OF_MAINTAINER if is_known else _LEAST_WORDS
    # what a colon announces stands outside the sentence
    return len(_LONG_WORD.findall(region)) >= least + region.rstrip().endswith(":")


def _versions(template: str, named: tuple[str, str]) -> Fact:
    return Fact(template, (("product", named[0]), ("version", named[1])))


def change(words: str, document: Document) -> Fact | None:
    """The change or release that words name of which somebody else says that it fixed the error; None: no typed one."""
    found = _PR.search(words)
    if found is not None:
        return _merged(found, document)
    if tables.has_fix().search(words) is None:  # "a check that JDK 1.6 is there": no release with the fix
        return None
    named = actions.versioned(words)
    if named is not None:
        return Fact("fix.released", (("package", named[0]), ("version", named[1])))
    version = _own_version(words, document)
    return _of_repo("fix.released_in", "_repo", ("version", version), document) if version else None


def tells_where(words: str) -> bool:
    """True if words about a fix say where it is to be had: a number, a reference, a branch or a release."""
    return bool(_DIGIT.search(words) or "#" in words or _BRANCH.search(words) or tables.has_release().search(words))


def _own_version(words: str, document: Document) -> str | None:
    """The version that words name, if it is one of the report's own project: no other name stands before it."""
    clean = actions.without_describe(words)
    fixed = _FIXED.search(clean)
    # "1.4 and 1.5 (fixed in 1.6)": what stands before is where the error is
    found = (_VERSION.search(clean, fixed.end()) if fixed is not None else None) or _VERSION.search(clean)
    if found is None or words[found.end() : found.end() + 2].lower() == ".x":
        return None
    before = _LAST_WORD.search(words, max(0, found.start() - 50), found.start())
    name = before.group(1).lower().strip(".-") if before else ""
    is_own = not name or name in tables.before_version() or name.isdigit() or _is_project(name, words, document)
    return found.group(1) if is_own else None


def _is_project(name: str, words: str, document: Document) -> bool:
    """True for the name of the report's project or of its owner, and for a part of it where the words do not name it.

    "Fixed in Titanium 7.1" is of titanium-timob; "in new releases of spark-nlp against Spark 2.4.0" is of Spark.
    """
    owner, _, repo = (document.repo or "").lower().rpartition("/")
    if name in (owner, repo):
        return True
    return name in _PARTS.split(repo) and repo not in words.lower()


def _merged(found: re.Match[str], document: Document) -> Fact | None:
    """The change that a reference names; None for the thread itself, which is no change, and for another report.

    None too for `name#5` of another repository, whose owner is anybody's guess.
    """
    near = (found["near"] or "").lower()
    if found["n"] and _BUILD.search(found.string, max(0, found.start() - 40), found.end() + 40):
        return None
    if near and near not in tables.before_reference() and near != (document.repo or "").lower().rpartition("/")[2]:
        return None
    named = _named(found, document)
    is_thread = named.lower() == f"{document.repo}#{document.number}".lower() or found["path"] == "issues"
    return None if is_thread else Fact("fix.merged", (("pr", named),))


def _fix(region: str, cue: tables.Cue, document: Document) -> Fact | None:
    """The fix that a sentence names: a change, a release, a branch, a build."""
    found = _PR.search(region) if cue.rule in {"fix.in_ref", "fix.ref_fixes", "fix.zh"} else None
    if found is not None:
        return _merged(found, document)
    named = actions.versioned(region) if cue.rule not in {"fix.works_on_branch", "fix.ref_fixes"} else None
    if named is not None:
        return Fact("fix.released", (("package", named[0]), ("version", named[1])))
    if cue.rule == "fix.in_latest":
        return _latest(region, document.repo or "")
    if cue.rule in {"fix.in_version", "fix.zh"} and _VERSION.search(actions.without_describe(region)):
        version = _own_version(region, document)
        return _of_repo("fix.released_in", "_repo", ("version", version), document) if version else None
    branch = _BRANCH.search(region) if cue.rule in {"fix.in_branch", "fix.works_on_branch"} else None
    if branch is None:
        return None
    name = branch.group(1).lower()
    if "night" in name:
        return _of_repo("fix.on_nightly", "_of", None, document)
    return _of_repo("fix.on_branch", "_of", ("branch", name), document)


def _latest(region: str, repo: str) -> Fact | None:
    """The latest release of the report's project; None where the words name another one."""
    other = _RELEASE_OF.search(region)
    is_own = bool(repo) and (other is None or other[1].lower() in repo.lower())
    return Fact("fix.in_latest", (("repo", repo),)) if is_own else None


def _of_repo(template: str, ending: str, slot: tuple[str, str] | None, document: Document) -> Fact:
    """A version, branch or build of the project itself: the report's repository says whose, so that a reader knows."""
    slots = () if slot is None else (slot,)
    if document.repo is None:
        return Fact(template, slots)
    return Fact(template + ending, tuple(sorted((*slots, ("repo", document.repo)))))


def _named(change: re.Match[str], document: Document) -> str:
    """`owner/repo#5`, `owner/repo@<commit>`, or what is known of it."""
    commit = change["sha"] or change["bare"]
    if commit:
        home = change["home"] or change["of"] or _home_of(commit, document.text) or document.repo
        return f"{repositories.current_name(home)}@{commit[:12]}" if home else commit[:12]
    repo = change["repo"] or change["short"] or document.repo or ""
    return f"{repositories.current_name(repo)}#{change['number'] or change['n']}"


def _home_of(commit: str, text: str) -> str | None:
    """The repository that a post names with the commit, "owner/repo@0123abc"; None where the commit stands alone."""
    at = text.find(commit)
    while at >= 0:
        named = _COMMIT_HOME.search(text, max(0, at - _LONGEST_HOME), at)
        if named is not None:
            return named[1]
        at = text.find(commit, at + len(commit))
    return None


def _window(sentence: Sentence, least: int, most: int) -> tuple[int, int] | None:
    """The span to quote: the sentence, or if it is too long the part between `least` and `most` and what fits."""
    if len(sentence.text) <= MAX_QUOTE:
        return sentence.start, sentence.end
    if most - least > MAX_QUOTE:
        return None
    begin = max(0, most - MAX_QUOTE) if most > MAX_QUOTE else 0
    begin = min(begin, least)
    if begin:
        space = sentence.text.find(" ", begin, least)
        begin = space + 1 if space >= 0 else least
    end = min(len(sentence.text), begin + MAX_QUOTE)
    if end < len(sentence.text):
        space = sentence.text.rfind(" ", most, end)
        end = space if space > 0 else end
    return sentence.start + begin, sentence.start + end
