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

from lamina.capture.redact.secret_values import base62_crc32, bech32_checksum

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


class PlantedSecret(NamedTuple):
    """A text that contains a secret."""

    name: str
    secret: str
    text: str


SecretMaker = Callable[[random.Random], str]


def _fill_template(rng: random.Random, template: str) -> str:
    """Return a template with every slot filled: {h32} is 32 hexadecimal digits, {w20-40} 20 to 40 word characters."""

    def fill(slot: re.Match[str]) -> str:
        fewest = int(slot[2])
        return "".join(rng.choices(_ALPHABETS[slot[1]], k=rng.randint(fewest, int(slot[3] or fewest))))

    return _SLOT.sub(fill, template)


def _template_maker(*templates: str) -> SecretMaker:
    return lambda chance: _fill_template(chance, chance.choice(templates))


def _checksum_maker(*prefixes: str) -> SecretMaker:
    """Return a maker of tokens with thirty characters and their checksum."""

    def make(chance: random.Random) -> str:
        body = _fill_template(chance, "{a30}")
        return chance.choice(prefixes) + body + base62_crc32(body)

    return make


def _base64_json(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _json_web_token(rng: random.Random) -> str:
    header = {"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {"sub": _fill_template(rng, "{d10}"), "name": "Ann", "iat": rng.randrange(10**9, 2 * 10**9)}
    return f"{_base64_json(header)}.{_base64_json(claims)}.{_fill_template(rng, '{w43}')}"


def _discord_token(rng: random.Random) -> str:
    user = base64.urlsafe_b64encode(str(rng.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{_fill_template(rng, '{w6}.{w27-38}')}"


def _age_key(rng: random.Random) -> str:
    words = [rng.randrange(32) for _ in range(51)] + [rng.choice([0, 16])]
    prefix, alphabet = "age-secret-key-", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    checked = [*words, *bech32_checksum(prefix, words)]
    return f"{prefix}1{''.join(alphabet[word] for word in checked)}".upper()


def _pem_block_maker(label: str) -> SecretMaker:
    def make(chance: random.Random) -> str:
        lines = [_fill_template(chance, "{b64}") for _ in range(chance.randint(4, 20))]
        return "\n".join(
            [f"-----BEGIN {label}-----", *lines, _fill_template(chance, "{b22}=="), f"-----END {label}-----"]
        )

    return make


def _service_account(rng: random.Random) -> str:
    return _pem_block_maker("PRIVATE KEY")(rng).replace("\n", "\\n")


def _sentry_token(rng: random.Random) -> str:
    about = {"iat": rng.random(), "url": "https://sentry.io", "org": "acme"}
    return f"sntrys_{_base64_json(about)}_{_fill_template(rng, '{b43}')}"


PROVIDER_FORMATS: dict[str, tuple[SecretMaker, ...]] = {
    "aws access key id": (_template_maker("AKIA{t16}", "ASIA{t16}"),),
    "google api key": (_template_maker("AIza{w35}"),),
    "google oauth secret": (_template_maker("GOCSPX-{w28}"),),
    "google oauth token": (_template_maker("ya29.{w60-180}"),),
    "private key": (
        _pem_block_maker("RSA PRIVATE KEY"),
        _pem_block_maker("OPENSSH PRIVATE KEY"),
        _pem_block_maker("EC PRIVATE KEY"),
        _service_account,
    ),
    "pgp private key": (_pem_block_maker("PGP PRIVATE KEY BLOCK"),),
    "azure client secret": (_template_maker("{a3}8Q~{w34}"),),
    "alibaba access key id": (_template_maker("LTAI{a20}"),),
    "digitalocean token": (_template_maker("dop_v1_{h64}", "doo_v1_{h64}"),),
    "supabase token": (_template_maker("sbp_{h40}"),),
    "planetscale token": (_template_maker("pscale_tkn_{w32-64}", "pscale_pw_{w43}"),),
    "databricks token": (_template_maker("dapi{h32}"),),
    "vault token": (_template_maker("hvs.{w90-120}", "hvb.{w138-200}"),),
    "terraform token": (_template_maker("{a14}.atlasv1.{w67}"),),
    "pulumi token": (_template_maker("pul-{h40}"),),
    "doppler token": (_template_maker("dp.pt.{a43}", "dp.st.prd.{a40}"),),
    "tailscale key": (_template_maker("tskey-auth-{a12}CNTRL-{a32}"),),
    "netlify token": (_template_maker("nfp_{a36}"),),
    "github token": (
        _checksum_maker("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        _template_maker("github_pat_{a22}_{a59}"),
    ),
    "gitlab token": (_template_maker("glpat-{w20}", "gldt-{w20}", "glrt-{w20}"),),
    "bitbucket app password": (_template_maker("ATBB{a32}"),),
    "atlassian token": (_template_maker("ATATT3{w186}"),),
    "npm token": (_checksum_maker("npm_"),),
    "pypi token": (_template_maker("pypi-AgEIcHlwaS5vcmc{w70-120}"),),
    "rubygems key": (_template_maker("rubygems_{h48}"),),
    "docker token": (_template_maker("dckr_pat_{w27}"),),
    "artifactory key": (_template_maker("AKCp{a69}"),),
    "sourcegraph token": (_template_maker("sgp_{h16}_{h40}", "sgp_{h40}"),),
    "circleci token": (_template_maker("CCIPAT_{a22}_{h40}"),),
    "postman key": (_template_maker("PMAK-{h24}-{h34}"),),
    "anthropic key": (_template_maker("sk-ant-api03-{w93}AA", "sk-ant-admin01-{w93}AA"),),
    "openai key": (_template_maker("sk-proj-{w74}T3BlbkFJ{w74}", "sk-svcacct-{w74}T3BlbkFJ{w74}", "sk-proj-{a48}"),),
    "api key": (_template_maker("sk-{a20}T3BlbkFJ{a20}", "sk-{h32}", "sk-{a48}"),),
    "openrouter key": (_template_maker("sk-or-v1-{h64}"),),
    "hugging face token": (_template_maker("hf_{a34}", "hf_{a37}"),),
    "groq key": (_template_maker("gsk_{a52}"),),
    "perplexity key": (_template_maker("pplx-{a48}"),),
    "replicate token": (_template_maker("r8_{a37}"),),
    "langsmith key": (_template_maker("lsv2_pt_{h32}_{h10}"),),
    "slack token": (
        _template_maker("xoxb-{d12}-{d12}-{a24}", "xoxp-{d12}-{d12}-{d12}-{h32}", "xapp-1-A{u10}-{d13}-{h64}"),
    ),
    "slack webhook": (_template_maker("https://hooks.slack.com/services/T{u8}/B{u10}/{a24}"),),
    "discord token": (_discord_token,),
    "discord webhook": (_template_maker("https://discord.com/api/webhooks/{d18}/{w68}"),),
    "telegram token": (_template_maker("{d9}:AA{w33}", "{d10}:AA{w33}"),),
    "twilio key": (_template_maker("SK{h32}", "AC{h32}"),),
    "sendgrid key": (_template_maker("SG.{w22}.{w43}"),),
    "mailgun key": (_template_maker("key-{h32}", "{h32}-{h8}-{h8}"),),
    "mailchimp key": (_template_maker("{h32}-us{d1}", "{h32}-us1{d1}"),),
    "brevo key": (_template_maker("xkeysib-{h64}-{a16}"),),
    "resend key": (_template_maker("re_{a8}_{a24}"),),
    "stripe key": (_template_maker("sk_live_{a24}", "sk_live_{a99}", "rk_live_{a24}", "sk_test_{a24}"),),
    "webhook secret": (_template_maker("whsec_{a32}", "whsec_{b32}"),),
    "shopify token": (_template_maker("shpat_{h32}", "shpss_{h32}"),),
    "square token": (_template_maker("sq0atp-{w22}", "sq0csp-{w43}", "EAAA{w60}"),),
    "paypal token": (_template_maker("access_token$production${l16}${h32}"),),
    "linear key": (_template_maker("lin_api_{a40}"),),
    "notion token": (_template_maker("secret_{a43}", "ntn_{a46}"),),
    "figma token": (_template_maker("figd_{w40}"),),
    "airtable token": (_template_maker("pat{a14}.{h64}"),),
    "contentful token": (_template_maker("CFPAT-{w43}"),),
    "dropbox token": (_template_maker("sl.{w130-150}"),),
    "typeform token": (_template_maker("tfp_{a44}_{a14}"),),
    "grafana token": (_template_maker("glsa_{a32}_{h8}", "glc_eyJvIjoi{a60}"),),
    "new relic key": (_template_maker("NRAK-{u27}", "{h36}NRAL"),),
    "sentry token": (_sentry_token, _template_maker("sntryu_{h64}")),
    "dynatrace token": (_template_maker("dt0c01.{u24}.{u64}"),),
    "hubspot token": (_template_maker("pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"),),
    "launchdarkly key": (_template_maker("sdk-{h8}-{h4}-4{h3}-a{h3}-{h12}"),),
    "json web token": (_json_web_token,),
    "age secret key": (_age_key,),
}
"""Secrets that are recognisable by their provider's prefix, in any context."""

_CONTEXTS = (
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

NAMED_SECRETS: dict[str, tuple[tuple[str, ...], SecretMaker]] = {
    "aws secret key": (
        (
            "AWS_SECRET_ACCESS_KEY={}",
            "aws_secret_access_key = {}",
            '"aws_secret_access_key": "{}"',
            "aws secret key: {}",
        ),
        _template_maker("{b40}"),
    ),
    "azure account key": (
        (
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
            "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
        ),
        _template_maker("{b86}=="),
    ),
    "azure signature": (
        ("https://acme.blob.core.windows.net/c?sv=2022-11-02&ss=b&srt=sco&sp=r&se=2027-01-01&sig={}",),
        _template_maker("{a20}%2B{a20}%3D"),
    ),
    "heroku key": (
        ("HEROKU_API_KEY={}", "heroku api key: {}", '"heroku_token": "{}"'),
        _template_maker("{h8}-{h4}-{h4}-{h4}-{h12}"),
    ),
    "okta token": (("OKTA_API_TOKEN={}", "okta_token: '{}'", "our okta token is {}"), _template_maker("00{w40}")),
    "fastly token": (("FASTLY_API_TOKEN={}", 'fastly_key = "{}"'), _template_maker("{a32}")),
    "cloudflare token": (
        ("CLOUDFLARE_API_TOKEN={}", "cloudflare token: {}", "cloudflare_api_key: {}"),
        _template_maker("{a40}", "{h37}"),
    ),
    "datadog key": (("DATADOG_API_KEY={}", "datadog app key: {}", "DD_API_KEY={}"), _template_maker("{h32}", "{h40}")),
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
        _template_maker("{a6}{d2}{a4}", "{l5}{d1}{l4}", "{a4}!{d2}{a5}", "{l4}#{d1}{u5}", "{a4}({d1}){a3}"),
    ),
    "authorization": (
        (
            "Authorization: Bearer {}",
            "-H 'Authorization: Bearer {}'",
            "authorization: Token {}",
            "headers = {{'Authorization': 'Bearer {}'}}",
        ),
        _template_maker("{a40}", "{h32}", "{w48}"),
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
        _template_maker("{h32}", "{a24}", "{a40}", "{l36}"),
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
        _template_maker("{h40}", "{a32}", "{a64}"),
    ),
    "secret": (
        ("CLIENT_SECRET={}", "client_secret: '{}'", 'secret = "{}"', '"clientSecret":"{}"', "DJANGO_SECRET={}"),
        _template_maker("{a32}", "{h64}", "{a20}"),
    ),
}
"""Secrets that are recognisable only by the words around them."""


def format_names() -> tuple[str, ...]:
    """Return the names of all types of secrets that are planted."""
    return (*PROVIDER_FORMATS, *(name for name in NAMED_SECRETS if name not in PROVIDER_FORMATS))


def plant_secrets(seed: int, per_format: int = 25) -> Iterator[PlantedSecret]:
    """Yield this many texts for every type, each with one secret in it; the same seed gives the same texts."""
    chance = random.Random(seed)
    for name, makers in PROVIDER_FORMATS.items():
        for at in range(per_format):
            secret = makers[at % len(makers)](chance)
            yield PlantedSecret(name, secret, chance.choice(_CONTEXTS).format(secret))
    for name, (places, make) in NAMED_SECRETS.items():
        for at in range(per_format):
            secret = make(chance)
            yield PlantedSecret(name, secret, places[at % len(places)].format(secret))


_BENIGN_TEMPLATES = (
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


def benign_lines(seed: int, count: int = 5000) -> Iterator[str]:
    """Yield technical lines that look like secrets and contain none; the same seed gives the same lines."""
    chance = random.Random(seed)
    for at in range(count):
        yield _fill_template(chance, _BENIGN_TEMPLATES[at % len(_BENIGN_TEMPLATES)])
