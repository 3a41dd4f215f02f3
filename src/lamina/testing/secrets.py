"""Made-up secrets, and technical lines without any: the corpus that redaction is measured on.

Every secret is generated from a seed in the provider's published format, with its checksum if there is one, and placed
in prose, code, settings, JSON, logs and commands. None was ever issued.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lamina.capture.redact.checks import base62_crc32, bech32

_DIGITS = string.digits
_LOWER = string.ascii_lowercase + _DIGITS
_UPPER = string.ascii_uppercase + _DIGITS
_ALNUM = string.ascii_letters + _DIGITS
_ALPHABETS = {
    "d": _DIGITS,
    "h": "0123456789abcdef",
    "l": _LOWER,
    "u": _UPPER,
    "a": _ALNUM,
    "w": _ALNUM + "_-",
    "b": _ALNUM + "+/",
    "t": string.ascii_uppercase + "234567",
}
_SLOT = re.compile(r"\{([a-z])(\d+)(?:-(\d+))?\}")


class Planted(NamedTuple):
    """A text that contains a secret."""

    name: str
    secret: str
    text: str


Maker = Callable[[random.Random], str]


def _drawn(chance: random.Random, template: str) -> str:
    """Return a template with every slot filled: {h32} is 32 hexadecimal digits, {w20-40} 20 to 40 word characters."""

    def fill(slot: re.Match[str]) -> str:
        fewest = int(slot[2])
        return "".join(chance.choices(_ALPHABETS[slot[1]], k=chance.randint(fewest, int(slot[3] or fewest))))

    return _SLOT.sub(fill, template)


def _of(*templates: str) -> Maker:
    return lambda chance: _drawn(chance, chance.choice(templates))


def _checked(*prefixes: str) -> Maker:
    """Return a maker of tokens with thirty characters and their checksum."""

    def make(chance: random.Random) -> str:
        body = _drawn(chance, "{a30}")
        return chance.choice(prefixes) + body + base62_crc32(body)

    return make


def _coded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _json_web_token(chance: random.Random) -> str:
    header = {"alg": chance.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {"sub": _drawn(chance, "{d10}"), "name": "Ann", "iat": chance.randrange(10**9, 2 * 10**9)}
    return f"{_coded(header)}.{_coded(claims)}.{_drawn(chance, '{w43}')}"


def _discord_token(chance: random.Random) -> str:
    user = base64.urlsafe_b64encode(str(chance.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{_drawn(chance, '{w6}.{w27-38}')}"


def _age_key(chance: random.Random) -> str:
    words = [chance.randrange(32) for _ in range(51)] + [chance.choice([0, 16])]
    return bech32("age-secret-key-", words).upper()


def _block(label: str) -> Maker:
    def make(chance: random.Random) -> str:
        lines = [_drawn(chance, "{b64}") for _ in range(chance.randint(4, 20))]
        return "\n".join([f"-----BEGIN {label}-----", *lines, _drawn(chance, "{b22}=="), f"-----END {label}-----"])

    return make


def _service_account(chance: random.Random) -> str:
    return _block("PRIVATE KEY")(chance).replace("\n", "\\n")


def _sentry_token(chance: random.Random) -> str:
    about = {"iat": chance.random(), "url": "https://sentry.io", "org": "acme"}
    return f"sntrys_{_coded(about)}_{_drawn(chance, '{b43}')}"


FORMATS: dict[str, tuple[Maker, ...]] = {
    "aws access key id": (_of("AKIA{t16}", "ASIA{t16}"),),
    "google api key": (_of("AIza{w35}"),),
    "google oauth secret": (_of("GOCSPX-{w28}"),),
    "google oauth token": (_of("ya29.{w60-180}"),),
    "private key": (
        _block("RSA PRIVATE KEY"),
        _block("OPENSSH PRIVATE KEY"),
        _block("EC PRIVATE KEY"),
        _service_account,
    ),
    "pgp private key": (_block("PGP PRIVATE KEY BLOCK"),),
    "azure client secret": (_of("{a3}8Q~{w34}"),),
    "alibaba access key id": (_of("LTAI{a20}"),),
    "digitalocean token": (_of("dop_v1_{h64}", "doo_v1_{h64}"),),
    "supabase token": (_of("sbp_{h40}"),),
    "planetscale token": (_of("pscale_tkn_{w32-64}", "pscale_pw_{w43}"),),
    "databricks token": (_of("dapi{h32}"),),
    "vault token": (_of("hvs.{w90-120}", "hvb.{w138-200}"),),
    "terraform token": (_of("{a14}.atlasv1.{w67}"),),
    "pulumi token": (_of("pul-{h40}"),),
    "doppler token": (_of("dp.pt.{a43}", "dp.st.prd.{a40}"),),
    "tailscale key": (_of("tskey-auth-{a12}CNTRL-{a32}"),),
    "netlify token": (_of("nfp_{a36}"),),
    "github token": (_checked("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _of("github_pat_{a22}_{a59}")),
    "gitlab token": (_of("glpat-{w20}", "gldt-{w20}", "glrt-{w20}"),),
    "bitbucket app password": (_of("ATBB{a32}"),),
    "atlassian token": (_of("ATATT3{w186}"),),
    "npm token": (_checked("npm_"),),
    "pypi token": (_of("pypi-AgEIcHlwaS5vcmc{w70-120}"),),
    "rubygems key": (_of("rubygems_{h48}"),),
    "docker token": (_of("dckr_pat_{w27}"),),
    "artifactory key": (_of("AKCp{a69}"),),
    "sourcegraph token": (_of("sgp_{h16}_{h40}", "sgp_{h40}"),),
    "circleci token": (_of("CCIPAT_{a22}_{h40}"),),
    "postman key": (_of("PMAK-{h24}-{h34}"),),
    "anthropic key": (_of("sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA"),),
    "openai key": (_of("sk-proj-{w74}T3BlbkFJ{w74}", "sk-svcacct-{w74}T3BlbkFJ{w74}", "sk-proj-{a48}"),),
    "api key": (_of("sk-{a20}T3BlbkFJ{a20}", "sk-{h32}", "sk-{a48}"),),
    "openrouter key": (_of("sk-or-v1-{h64}"),),
    "hugging face token": (_of("hf_{a34}", "hf_{a37}"),),
    "groq key": (_of("gsk_{a52}"),),
    "perplexity key": (_of("pplx-{a48}"),),
    "replicate token": (_of("r8_{a37}"),),
    "langsmith key": (_of("lsv2_pt_{h32}_{h10}"),),
    "slack token": (_of("xoxb-{d12}-{d12}-{a24}", "xoxp-{d12}-{d12}-{d12}-{h32}", "xapp-1-A{u10}-{d13}-{h64}"),),
    "slack webhook": (_of("https://hooks.slack.com/services/T{u8}/B{u10}/{a24}"),),
    "discord token": (_discord_token,),
    "discord webhook": (_of("https://discord.com/api/webhooks/{d18}/{w68}"),),
    "telegram token": (_of("{d9}:AA{w33}", "{d10}:AA{w33}"),),
    "twilio key": (_of("SK{h32}", "AC{h32}"),),
    "sendgrid key": (_of("SG.{w22}.{w43}"),),
    "mailgun key": (_of("key-{h32}", "{h32}-{h8}-{h8}"),),
    "mailchimp key": (_of("{h32}-us{d1}", "{h32}-us1{d1}"),),
    "brevo key": (_of("xkeysib-{h64}-{a16}"),),
    "resend key": (_of("re_{a8}_{a24}"),),
    "stripe key": (_of("sk_live_{a24}", "sk_live_{a99}", "rk_live_{a24}", "sk_test_{a24}"),),
    "webhook secret": (_of("whsec_{a32}", "whsec_{b32}"),),
    "shopify token": (_of("shpat_{h32}", "shpss_{h32}"),),
    "square token": (_of("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),),
    "paypal token": (_of("access_token$production${l16}${h32}"),),
    "linear key": (_of("lin_api_{a40}"),),
    "notion token": (_of("secret_{a43}", "ntn_{a46}"),),
    "figma token": (_of("figd_{w40}"),),
    "airtable token": (_of("pat{a14}.{h64}"),),
    "contentful token": (_of("CFPAT-{w43}"),),
    "dropbox token": (_of("sl.{w130-150}"),),
    "typeform token": (_of("tfp_{a44}_{a14}"),),
    "grafana token": (_of("glsa_{a32}_{h8}", "glc_eyJvIjoi{a60}"),),
    "new relic key": (_of("NRAK-{u27}", "{h36}NRAL"),),
    "sentry token": (_sentry_token, _of("sntryu_{h64}")),
    "dynatrace token": (_of("dt0c01.{u24}.{u64}"),),
    "hubspot token": (_of("pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"),),
    "launchdarkly key": (_of("sdk-{h8}-{h4}-4{h3}-a{h3}-{h12}"),),
    "json web token": (_json_web_token,),
    "age secret key": (_age_key,),
}
"""Secrets that are recognisable by their provider's prefix, in any context."""

_PLACES = (
    "Here is the key I promised: {}. Please keep it safe.",
    "I rotated it, use {} from now on",
    "We got locked out, so Ann sent me {} on Monday and it works again.",
    'client = Client("{}")',
    "const auth = '{}';",
    "fetch(url, {{ headers: {{ 'X-Auth': '{}' }} }})",
    "SERVICE_AUTH={}",
    "export CI_LOGIN='{}'",
    '{{"user": "ann", "login": "{}", "active": true}}',
    "login: {}",
    '  - name: LOGIN\n    value: "{}"',
    "2026-11-14T09:12:33Z WARN auth.py:88 rejected credentials {} for user=ann status=401",
    "curl -s 'https://api.host.dev/v1/items?auth={}&page=2'",
    "deploy --login {} --region eu-west-1",
    "| service | {} | rotated in May |",
    "Run `login {}` first.",
    '"log": "line one\\n{}\\nline three"',
    "see <{}>",
)

ANNOUNCED: dict[str, tuple[tuple[str, ...], Maker]] = {
    "aws secret key": (
        (
            "AWS_SECRET_ACCESS_KEY={}",
            "aws_secret_access_key = {}",
            '"aws_secret_access_key": "{}"',
            "aws secret key: {}",
        ),
        _of("{b40}"),
    ),
    "azure account key": (
        (
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
            "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
        ),
        _of("{b86}=="),
    ),
    "azure signature": (
        ("https://acme.blob.core.windows.net/c?sv=2022-11-02&ss=b&srt=sco&sp=r&se=2027-01-01&sig={}",),
        _of("{a20}%2B{a20}%3D"),
    ),
    "heroku key": (
        ("HEROKU_API_KEY={}", "heroku api key: {}", '"heroku_token": "{}"'),
        _of("{h8}-{h4}-{h4}-{h4}-{h12}"),
    ),
    "okta token": (("OKTA_API_TOKEN={}", "okta_token: '{}'", "our okta token is {}"), _of("00{w40}")),
    "fastly token": (("FASTLY_API_TOKEN={}", 'fastly_key = "{}"'), _of("{a32}")),
    "cloudflare token": (
        ("CLOUDFLARE_API_TOKEN={}", "cloudflare token: {}", "cloudflare_api_key: {}"),
        _of("{a40}", "{h37}"),
    ),
    "datadog key": (("DATADOG_API_KEY={}", "datadog app key: {}", "DD_API_KEY={}"), _of("{h32}", "{h40}")),
    "password": (
        (
            "postgres://ann:{}@db.host.dev:5432/shop",
            "mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/test",
            "redis://:{}@cache:6379/0",
            "https://ann:{}@git.host.dev/acme/shop.git",
            "password = '{}'",
            "DB_PASSWORD={}",
            "my password is {}",
            "The wifi password is {}.",
            "--password {} --user ann",
            '{{"user": "ann", "password": "{}"}}',
            "db:\n  password: {}",
            "<password>{}</password>",
            "curl -u ann:{} https://host.dev",
            "machine host.dev login ann password {}",
            "I changed my password to {} yesterday",
        ),
        _of("{a6}{d2}{a4}", "{l5}{d1}{l4}", "{a4}!{d2}{a5}", "{l4}#{d1}{u5}", "{a4}({d1}){a3}"),
    ),
    "authorization": (
        (
            "Authorization: Bearer {}",
            "-H 'Authorization: Bearer {}'",
            "authorization: Token {}",
            "headers = {{'Authorization': 'Bearer {}'}}",
        ),
        _of("{a40}", "{h32}", "{w48}"),
    ),
    "key": (
        (
            "API_KEY={}",
            'api_key = "{}"',
            "apiKey: '{}'",
            '"api-key": "{}"',
            "x-api-key: {}",
            "--api-key {}",
            "the api key is {}",
            "os.environ['SERVICE_API_KEY'] = '{}'",
            "encryption_key: {}",
        ),
        _of("{h32}", "{a24}", "{a40}", "{l36}"),
    ),
    "token": (
        (
            "AUTH_TOKEN={}",
            "access_token: {}",
            '"token": "{}"',
            "token = '{}'",
            "--token {}",
            "https://host.dev/cb?access_token={}&state=1",
            "The bot token is {}, do not lose it",
        ),
        _of("{h40}", "{a32}", "{a64}"),
    ),
    "secret": (
        ("CLIENT_SECRET={}", "client_secret: '{}'", 'secret = "{}"', '"clientSecret":"{}"', "DJANGO_SECRET={}"),
        _of("{a32}", "{h64}", "{a20}"),
    ),
}
"""Secrets that are recognisable only by the words around them."""


def format_names() -> tuple[str, ...]:
    """Return the names of all types of secrets that are planted."""
    return (*FORMATS, *(name for name in ANNOUNCED if name not in FORMATS))


def planted(seed: int, each: int = 25) -> Iterator[Planted]:
    """Yield this many texts for every type, each with one secret in it; the same seed gives the same texts."""
    chance = random.Random(seed)
    for name, makers in FORMATS.items():
        for at in range(each):
            secret = makers[at % len(makers)](chance)
            yield Planted(name, secret, chance.choice(_PLACES).format(secret))
    for name, (places, make) in ANNOUNCED.items():
        for at in range(each):
            secret = make(chance)
            yield Planted(name, secret, places[at % len(places)].format(secret))


_BENIGN = (
    "commit {h40}",
    "* {h7} (HEAD -> main, origin/main) Fix the token refresh of the session cache",
    "index {h7}..{h7} 100644",
    '      "integrity": "sha512-{b86}==",',
    "      integrity sha512-{b86}==",
    '"resolved": "https://registry.host.dev/left-pad/-/left-pad-1.{d1}.{d1}.tgz#{h40}",',
    "sha256:{h64}",
    "image: acme/shop@sha256:{h64}",
    "md5sum {h32}  release-{d1}.{d1}.tar.gz",
    "trace_id={h32} span_id={h16} sampled=true",
    "request_id: {h8}-{h4}-4{h3}-a{h3}-{h12}",
    '{"id": "{h8}-{h4}-4{h3}-b{h3}-{h12}", "kind": "order", "total": {d3}}',
    "data:image/png;base64,iVBORw0KGgo{b120}==",
    "src: url(data:font/woff2;base64,d09GMg{b160}) format('woff2');",
    "https://host.dev/assets/main.{h8}.js?v={h20}",
    "https://cdn.host.dev/npm/react@18.{d1}.{d1}/umd/react.production.min.js",
    "https://github.com/acme/shop/commit/{h40}",
    '!function(e,t){var n=e.a{d2},r=t.b{d2};return n^r?e.c("{l6}"):t[{d2}]}(window,{});',
    ".btn-primary { color: #{h6}; background: #{h6}; border-radius: {d1}px; }",
    "pod/checkout-{h9}-{l5} 1/1 Running 0 {d2}h",
    "secretName: checkout-tls-{h5}",
    "        secretKeyRef: { name: shop-db, key: password }",
    "password: ${DB_PASSWORD}",
    "DB_PASSWORD=<your-password>",
    "API_KEY=your-api-key-here",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
    "token = os.environ['GITHUB_TOKEN']",
    "password = getpass.getpass('Password: ')",
    "api_key: {{ vault_api_key }}",
    "const secret = process.env.CLIENT_SECRET;",
    "password: changeme",
    "def check_password(self, password: str, hashed: bytes) -> bool:",
    "max_tokens={d4}, temperature=0.{d1}",
    "next_page_token: {a24}",
    "eos_token_id = {d5}",
    "tokenizer = AutoTokenizer.from_pretrained('acme/bert-{d2}m-v{d1}')",
    "The password is required and must be at least {d2} characters long.",
    "Each API key is shown once; the token is valid for {d2} days.",
    "public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{b86}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} ann@laptop",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{b200} ann@laptop",
    "-----BEGIN CERTIFICATE-----",
    '  File "/srv/shop/auth/token.py", line {d3}, in refresh_token',
    "    at Object.<anonymous> (/srv/app/src/keys.ts:{d2}:{d2})",
    "KeyError: 'access_token_expiry_{d2}'",
    "0x{h8} <+{d2}>: mov %rax,0x{h4}(%rbp)",
    'ETag: W/"{h2}-{a27}"',
    'cache_key = f"user:{{user_id}}:v{d1}:{h12}"',
    "primary_key: order_{d6}",
    "X-Amz-Cf-Id: {w54}==",
    "etcd member {h16} is starting a new election at term {d3}",
    "ADD COLUMN password_hash varchar({d3}) NOT NULL DEFAULT ''",
    "$2b$12${a22}{a31}",
    "arn:aws:iam::{d12}:role/deploy-{l6}",
    "Order {d10} shipped with tracking 1Z{u16}",
    "nonce-{a22}== and sha256-{b43}= in the content security policy",
    "go.sum: github.com/acme/tok v1.{d1}.{d1} h1:{b43}=",
    "RUN pip install --hash=sha256:{h64} shop==1.{d1}.{d1}",
    "Serial Number: {h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}",
    "ipfs://bafybei{l52}",
    "doi 10.{d4}/{l8}.{d4}.{d6}",
    "uses: actions/checkout@{h40}",
    "session expired; ask the user for a new password and a new token",
    "postgres://localhost:5432/shop_{l4}",
    "postgres://user:password@localhost/shop",
    "https://host.dev:{d4}/a/b?q={l8}&id={h24}",
    "Bearer tokens are sent in the Authorization header; basic auth is for tests.",
    "basic-auth-{d1} middleware, digest sha-{d3} enabled",
    "export PATH=/opt/tools-{d1}.{d1}/bin:$PATH",
    "user_{d5}@host{d2}.dev logged in from 10.{d1}.{d2}.{d2} port {d5}",
    "blob:https://host.dev/{h8}-{h4}-4{h3}-9{h3}-{h12}",
    "if (!token) throw new Error('token missing in request {d4}');",
    '"token": { "type": "string", "minLength": {d2} },',
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']",
    "task-{h24} risk-{d4} disk-{d2}{l20}",
    'class sk-toggleable__label-arrow:before { content: "▸" }',
)


def benign(seed: int, count: int = 5000) -> Iterator[str]:
    """Yield technical lines that look like secrets and contain none; the same seed gives the same lines."""
    chance = random.Random(seed)
    for at in range(count):
        yield _drawn(chance, _BENIGN[at % len(_BENIGN)])
