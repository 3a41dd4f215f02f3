"""The formats of providers' secrets: one row for each, found by a literal that it must contain.

Literals are searched as plain text, which costs almost nothing if there are none; the pattern is tried only at those
places. Repeats are bounded, and no two adjacent repeats match the same characters: time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lamina.capture.redact.secret_values import (
    SecretSpan,
    has_base62_crc32,
    has_discord_user_id,
    is_bech32,
    is_json_web_token,
    is_placeholder,
    is_word_start,
    looks_random,
)

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """The written form of one provider's secret.

    A match of `sufficient_check` is certain; one that fails `required_check` is none.
    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    is_literal_inside: bool = False
    """The literal is inside the secret, not at its start."""
    required_check: Check | None = None
    sufficient_check: Check | None = None

    min_chars: int = 16

    def find(self, text: str, literal: str) -> Iterator[SecretSpan]:
        """Yield the secrets of this format; `literal` is the one that the text contains."""
        return self._search(text) if self.is_literal_inside else self._match_at_literal(text, literal)

    def _search(self, text: str) -> Iterator[SecretSpan]:
        for match in self.pattern.finditer(text):
            if self._is_secret(text, match):
                yield self._span(match)

    def _match_at_literal(self, text: str, literal: str) -> Iterator[SecretSpan]:
        position = text.find(literal)
        while position >= 0:
            match = self.pattern.match(text, position) if is_word_start(text, position) else None
            is_secret = match is not None and self._is_secret(text, match)
            if match and is_secret:
                yield self._span(match)
            position = text.find(literal, match.end() if match and is_secret else position + len(literal))

    def _span(self, match: re.Match[str]) -> SecretSpan:
        return SecretSpan(*match.span(match.re.groups and 1), self.name)

    def _is_secret(self, text: str, match: re.Match[str]) -> bool:
        secret = match[match.re.groups and 1]
        if self.sufficient_check and self.sufficient_check(secret):
            return True
        return not is_placeholder(secret) and (self.required_check is None or self.required_check(secret))


_CHARACTER_CLASSES = {
    "alnum": "A-Za-z0-9",
    "word": "A-Za-z0-9_-",
    "dotted": "A-Za-z0-9_.-",
    "hex": "a-f0-9",
    "anyhex": "A-Fa-f0-9",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "base32": "A-Z2-7",
    "base64": "A-Za-z0-9+/_-",
}
_LONG_SECRET_CHARS = 300
"""A longer secret must not be part of a word, or a run of prefixes would be scanned again and again."""
_ISOLATED_START = r"(?:(?<![\w.+/-])|(?<=\\[nrt]))"


def _prefixed(
    name: str,
    prefixes: str,
    body: str,
    min_chars: int,
    max_chars: int | None = None,
    *,
    required_check: Check | None = None,
    sufficient_check: Check | None = None,
) -> SecretFormat:
    """Return the format of a secret that is a prefix and so many characters, and no more of them after it."""
    literals = tuple(prefixes.split())
    chars = _CHARACTER_CLASSES[body]
    start = "|".join(map(re.escape, literals))
    clear = _ISOLATED_START if (max_chars or min_chars) > _LONG_SECRET_CHARS else ""
    padding = "={0,2}" if body == "base64" else ""
    pattern = rf"{clear}(?:{start})[{chars}]{{{min_chars},{max_chars or min_chars}}}+(?![{chars}]){padding}"
    return SecretFormat(
        name, literals, re.compile(pattern, re.ASCII), required_check=required_check, sufficient_check=sufficient_check
    )


def _shaped(name: str, literals: str, pattern: str, *, required_check: Check | None = None) -> SecretFormat:
    return SecretFormat(name, tuple(literals.split()), re.compile(pattern, re.ASCII), required_check=required_check)


def _within(
    name: str, literal: str, min_chars: int, pattern: str, *, required_check: Check | None = None
) -> SecretFormat:
    return SecretFormat(
        name,
        (literal,),
        re.compile(pattern, re.ASCII),
        is_literal_inside=True,
        required_check=required_check,
        min_chars=min_chars,
    )


_EDGE = r"(?:(?<![\w.~-])|(?<=\\[nrt]))"
"""Where a secret may begin that has no mark at its start; `\\n` in front of it is a line end, not a letter."""
_EDGE_1 = r"(?:(?<![\w.~-].)|(?<=\\[nrt].))"
"""The same, checked after the first character: a search that begins with a character is much faster."""
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

CLOUD_FORMATS = (
    _prefixed("aws access key id", "AKIA ASIA ABIA ACCA", "base32", 16),
    _prefixed("aws bedrock key", "ABSK", "base64", 100, 280),
    _prefixed("google api key", "AIza", "word", 35),
    _prefixed("google oauth secret", "GOCSPX-", "word", 28),
    _prefixed("google oauth token", "ya29.", "dotted", 20, 600),
    _prefixed("google refresh token", "1//0", "word", 40, 120),
    _shaped("firebase key", "AAAA", r"AAAA[\w-]{7}:[\w-]{140}(?![\w-])"),
    _within("azure client secret", "Q~", 37, rf"{_EDGE}[\w~.]{{3}}\dQ~[\w~.-]{{31,34}}(?![\w~-])"),
    _shaped(
        "azure account key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{32,120}={0,2})",
    ),
    _shaped(
        "azure signature",
        "sig=",
        r"sig=([A-Za-z0-9%+/]{40,120}(?:={1,2})?)(?![A-Za-z0-9])",
        required_check=looks_random,
    ),
    _prefixed("alibaba access key id", "LTAI", "alnum", 12, 26),
    _prefixed("tencent secret id", "AKID", "alnum", 32, 48),
    _prefixed("yandex key", "AQVN", "word", 35, 38),
    _prefixed("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", "hex", 64),
    _prefixed("heroku key", "HRKU-", "word", 36, 70),
    _prefixed("cloudflare origin key", "v1.0-", "word", 171),
    _prefixed("fly.io token", "fm1r_ fm2_ fo1_", "base64", 40, 900),
    _prefixed("render key", "rnd_", "alnum", 28, 40, required_check=looks_random),
    _prefixed("netlify token", "nfp_ nfc_ nfo_ nfu_", "alnum", 36, 42),
    _prefixed("neon key", "napi_", "lower", 50, 80),
    _prefixed("supabase token", "sbp_", "hex", 40),
    _prefixed("supabase secret key", "sb_secret_", "word", 22, 60),
    _prefixed("planetscale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "dotted", 32, 64),
    _prefixed("databricks token", "dapi", "hex", 32),
    _prefixed("vault token", "hvs. hvb. hvr.", "word", 24, 300),
    _within("terraform token", ".atlasv1.", 80, rf"{_EDGE}[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{60,70}}(?![\w=-])"),
    _prefixed("pulumi token", "pul-", "hex", 40),
    _prefixed("doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "dotted", 40, 80),
    _prefixed("prefect key", "pnu_ pnb_", "alnum", 36),
    _prefixed("tailscale key", "tskey-", "word", 24, 80),
    _prefixed("scalingo token", "tk-us- tk-eu-", "word", 48),
    _shaped(
        "1password secret key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"
    ),
    _prefixed("1password service token", "ops_eyJ", "base64", 100, 2000),
)

CODE_HOST_FORMATS = (
    _prefixed("github token", "ghp_ gho_ ghu_ ghs_ ghr_", "alnum", 36, 255, sufficient_check=has_base62_crc32),
    _shaped("github token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?![A-Za-z0-9])"),
    _prefixed(
        "gitlab token",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        "dotted",
        20,
        300,
    ),
    _prefixed("bitbucket app password", "ATBB", "alnum", 32),
    _prefixed("atlassian token", "ATATT3 ATCTT3 ATSTT3", "base64", 60, 260),
    _prefixed("npm token", "npm_", "alnum", 36, sufficient_check=has_base62_crc32),
    _prefixed("pypi token", "pypi-AgEI pypi-AgEN", "word", 50, 500),
    _prefixed("rubygems key", "rubygems_", "hex", 48),
    _prefixed("crates.io token", "cio", "alnum", 32, required_check=looks_random),
    _prefixed("nuget key", "oy2", "lower", 43),
    _prefixed("clojars token", "CLOJARS_", "lower", 60),
    _prefixed("docker token", "dckr_pat_ dckr_oat_", "word", 27, 40),
    _prefixed("artifactory key", "AKCp", "alnum", 69),
    _prefixed("artifactory token", "cmVmd", "alnum", 59),
    _prefixed("sourcegraph token", "sgp_ slk_", "alnum", 40, 80, required_check=looks_random),
    _shaped("sourcegraph token", "sgp_", r"sgp_(?:local_|[a-f0-9]{16}_)[a-f0-9]{40}(?![a-f0-9])"),
    _prefixed("buildkite token", "bkua_ bkct_ bkaj_", "hex", 40),
    _shaped("circleci token", "CCIPAT_ CCIPRJ_", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}(?![a-f0-9])"),
    _prefixed("postman key", "PMAK-", "word", 59),
    _prefixed("infracost key", "ico-", "alnum", 32, required_check=looks_random),
)

MODEL_PROVIDER_FORMATS = (
    _prefixed("anthropic key", "sk-ant-", "word", 20, 220),
    _prefixed("openai key", "sk-proj- sk-svcacct- sk-admin- sk-None-", "word", 20, 220),
    _prefixed("openrouter key", "sk-or-v1-", "hex", 64),
    _prefixed("langfuse key", "sk-lf-", "word", 36),
    _prefixed("api key", "sk-", "word", 20, 220, required_check=looks_random),
    _prefixed("elevenlabs key", "sk_", "hex", 48),
    _prefixed("hugging face token", "hf_ api_org_", "alnum", 30, 40, required_check=looks_random),
    _prefixed("langsmith key", "lsv2_pt_ lsv2_sk_", "word", 32, 60),
    _prefixed("groq key", "gsk_", "alnum", 40, 64),
    _prefixed("xai key", "xai-", "alnum", 60, 100),
    _prefixed("perplexity key", "pplx-", "alnum", 32, 64),
    _prefixed("replicate token", "r8_", "alnum", 37, 40),
    _prefixed("together key", "tgp_v1_", "word", 40, 50),
    _prefixed("pinecone key", "pcsk_", "word", 50, 90),
    _prefixed("nvidia key", "nvapi-", "word", 60, 70),
    _prefixed("tavily key", "tvly-", "word", 28, 60),
)

MESSAGING_FORMATS = (
    _prefixed("slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxc- xoxd- xoxe.xoxp- xapp-", "word", 20, 300),
    _shaped(
        "slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{30,120}"
    ),
    _within(
        "discord token",
        ".",
        58,
        rf"[MNO]{_EDGE_1}[\w-]{{22,27}}\.[\w-]{{6}}\.[\w-]{{27,38}}(?![\w-])",
        required_check=has_discord_user_id,
    ),
    _shaped("discord webhook", "discord.com/api/webhooks/", r"discord\.com/api/webhooks/\d{17,20}/[\w-]{60,80}"),
    _shaped("discord webhook", "discordapp.com/api/webhooks/", r"discordapp\.com/api/webhooks/\d{17,20}/[\w-]{60,80}"),
    _within("telegram token", ":AA", 44, rf"\d(?:{_EDGE_1}|(?<=bot.))\d{{7,9}}:AA[\w-]{{33}}(?![\w-])"),
    _shaped("teams webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[\w@/-]{60,300}"),
    _shaped("zapier webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/\d{4,12}/[A-Za-z0-9]{5,12}"),
    _prefixed("twilio key", "SK AC", "hex", 32),
    _shaped("sendgrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{39,50}(?![\w-])"),
    _prefixed("mailgun key", "key- pubkey-", "hex", 32),
    _within("mailgun key", "-", 50, rf"[a-f0-9]{_EDGE_1}[a-f0-9]{{31}}-[a-f0-9]{{8}}-[a-f0-9]{{8}}(?![\w-])"),
    _within("mailchimp key", "-us", 36, rf"[a-f0-9]{_EDGE_1}[a-f0-9]{{31}}-us\d{{1,2}}(?!\w)"),
    _prefixed("brevo key", "xkeysib- xsmtpsib-", "word", 80, 90),
    _shaped("resend key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9])", required_check=looks_random),
    _prefixed("facebook token", "EAA", "alnum", 80, 260, required_check=looks_random),
    _shaped("twitter token", "AAAAAAAAAAAAAAAAAAAA", r"A{20,22}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9%])"),
)

COMMERCE_FORMATS = (
    _prefixed("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_", "alnum", 16, 250),
    _prefixed("webhook secret", "whsec_", "base64", 24, 80),
    _prefixed("shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_", "anyhex", 32),
    _prefixed("square token", "sq0atp- sq0csp-", "word", 22, 50),
    _prefixed("square token", "EAAA", "word", 60, 64),
    _shaped(
        "paypal token", "access_token$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}(?![a-f0-9])"
    ),
    _prefixed("easypost key", "EZAK EZTK", "alnum", 54),
    _shaped("flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}-X"),
    _prefixed("shippo token", "shippo_live_ shippo_test_", "hex", 40),
    _prefixed("duffel token", "duffel_live_ duffel_test_", "base64", 43),
    _shaped("hubspot token", "pat-na1- pat-eu1- pat-na2-", rf"pat-[a-z]{{2}}\d-{_UUID}"),
)

PRODUCTIVITY_FORMATS = (
    _prefixed("linear key", "lin_api_ lin_oauth_", "alnum", 40, 64),
    _prefixed("notion token", "secret_", "alnum", 43),
    _prefixed("notion token", "ntn_", "alnum", 40, 50),
    _prefixed("figma token", "figd_ figdr_ figu_ figor_", "word", 36, 60),
    _shaped("airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![a-f0-9])"),
    _prefixed("contentful token", "CFPAT-", "word", 43),
    _prefixed("dropbox token", "sl.", "dotted", 120, 1500),
    _prefixed("typeform token", "tfp_", "dotted", 40, 64),
    _prefixed("readme key", "rdme_", "lower", 70),
    _prefixed("frame.io token", "fio-u-", "word", 64),
    _prefixed("adobe secret", "p8e-", "alnum", 32),
    _prefixed("adafruit key", "aio_", "alnum", 28),
    _within("asana token", ":", 44, r"[12](?<![\w/].)/\d{10,19}(?:/\d{10,19})?:[a-f0-9]{32}(?![a-f0-9])"),
    _shaped("mapbox secret token", "sk.eyJ", r"sk\.eyJ[\w-]{40,200}\.[\w-]{20,30}(?![\w-])"),
    _shaped("launchdarkly key", "sdk- api- mob-", rf"(?:sdk|api|mob)-{_UUID}(?![\w-])"),
    _prefixed("grafana token", "glc_", "base64", 32, 500),
    _shaped("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}(?![A-Za-z0-9])"),
    _prefixed("new relic key", "NRAK- NRII- NRJS- NRRA-", "word", 19, 42),
    _within("new relic key", "NRAL", 40, rf"[a-f0-9]{_EDGE_1}[a-f0-9]{{35}}NRAL(?![A-Za-z0-9])"),
    _prefixed("sentry token", "sntrys_", "base64", 60, 500),
    _prefixed("sentry token", "sntryu_", "hex", 64),
    _shaped("dynatrace token", "dt0c01. dt0s16. dt0s01.", r"dt0[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}(?![A-Z0-9])"),
)

SIGNED_FORMATS = (
    _within(
        "json web token",
        "eyJ",
        20,
        rf"e{_EDGE_1}yJ[\w-]{{8,4000}}\.[\w-]{{8,16000}}\.[\w-]{{0,2000}}",
        required_check=is_json_web_token,
    ),
    _prefixed("grafana token", "eyJrIjoi", "base64", 60, 120),
    _prefixed("age secret key", "AGE-SECRET-KEY-1", "upper", 58, sufficient_check=is_bech32),
)

FORMATS: tuple[SecretFormat, ...] = (
    CLOUD_FORMATS
    + CODE_HOST_FORMATS
    + MODEL_PROVIDER_FORMATS
    + MESSAGING_FORMATS
    + COMMERCE_FORMATS
    + PRODUCTIVITY_FORMATS
    + SIGNED_FORMATS
)


_LITERALS = tuple(
    (literal, secret_format.min_chars, secret_format) for secret_format in FORMATS for literal in secret_format.literals
)


def find_formatted_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield every secret in the format of a provider. No format contains a space, so only long words are searched."""
    words = [word for word in text.split() if len(word) >= 16]
    longest = max(map(len, words), default=0)
    searched = " ".join(words)
    for literal, shortest, secret_format in _LITERALS if words else ():
        if literal in searched and longest >= shortest:
            yield from secret_format.find(text, literal)
