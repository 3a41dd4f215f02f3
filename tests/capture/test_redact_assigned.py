"""Secrets that only their surroundings give away."""

from __future__ import annotations

import pytest

from lamina.capture.redact import redact

SIGNS = "kT9(w)x!Qe2"
WORDY = "hunter2xyz"
TOKEN = "q8Zr3LmN0pXc7VbY5tKd"
HEX = "9c1f0e7ab34d5521c9d8e7f6a5b4c3d2"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my password is {}", WORDY),
        ("The password for the router is {}.", WORDY),
        ("I changed my password to {} yesterday", WORDY),
        ("my password's {}", WORDY),
        ("Password is: {}", WORDY),
        ("password - {}", WORDY),
        ("my pw is {}", WORDY),
        ("**Password:** `{}`", WORDY),
        ("Username: ann\nPassword: {}", WORDY),
        ("user ann pass {}", WORDY),
        ("mot de passe: {}", WORDY),
        ("contraseña: {}", WORDY),
        ("пароль: {}", WORDY),
        ("密码：{}", WORDY),
        ("password: {}", SIGNS),
        ("Server=db;User Id=sa;Password={};Encrypt=true", SIGNS),
        ("'password' => '{}',", SIGNS),
        ("password: str = '{}'", SIGNS),
        ('{{"password": "{}"}}', SIGNS),
        ('{{\\"password\\":\\"{}\\"}}', WORDY),
        ("<password>{}</password>", WORDY),
        ("jdbc:mysql://h/db?user=root&password={}&useSSL=false", WORDY),
        ("password%3D{}", WORDY),
        ("--db-password={}", WORDY),
        ("--password '{}'", SIGNS),
        ("docker login -u ann -p {}", WORDY),
        ("curl -u ann:{} https://host.dev", SIGNS),
        ("sshpass -p '{}' ssh ann@host", WORDY),
        ("machine host.dev login ann password {}", WORDY),
        ("kubectl create secret generic s --from-literal=password={}", WORDY),
        ("PGPASSWORD={} psql", "abracadabra"),
        ("password = '{}'", "abracadabra"),
        ('passphrase: "{}"', "correct horse battery staple"),
        ("my bank PIN is {}", "4821"),
        ("the pin: {}", "4821"),
        ("db:\n  password: {}", "v50p#5YKR80"),
        ("my password is {}", "JJBR(7)Amq"),
        ("<password>{}</password>", "G0kF(0)hGO"),
        ("here's the token: {}", TOKEN),
        ('"accessToken": "{}"', TOKEN),
        ("client_secret={}", TOKEN),
        ("x-api-key: {}", HEX),
        ("?api_key={}&x=1", HEX),
        ("secret_key_base: {}", HEX + HEX),
        ("set SECRET_KEY {}", TOKEN),
        ("Authorization: Bearer {}", TOKEN),
        ("Authorization: Basic {}", "YW5uOnMzY3IzdHBhc3N3b3Jk"),
        ("HEROKU_API_KEY={}", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
        ("DB_PASSWORD={}", "p@ss,w0rd;[1]&x"),
    ],
)
def test_what_is_called_a_secret_goes_whole(text: str, secret: str) -> None:
    left = redact(text.format(secret)).text
    assert left.startswith(text.format("\0").partition("\0")[0]), "what stands before it stays"
    assert not any(secret[at : at + 4] in left for at in range(len(secret) - 3)), left


@pytest.mark.parametrize(
    "text",
    [
        "The password is required and must have 12 characters.",
        "I forgot my password again, the reset password link is broken.",
        "password = getpass.getpass('Password: ')",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        "DB_PASSWORD=<your-password>",
        "password: str | None = None",
        'password = f"{prefix}-{name}"',
        "password=password, token=token",
        "API_KEY=your-api-key-here",
        "secret: changeme",
        "max_tokens=4096, n_tokens=128000",
        "next_page_token: q8Zr3LmN0pXc7VbY5tKd",
        "eos_token = '<|endoftext|>'",
        "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased-v2')",
        "primary_key: order_9c1f0e7ab34d5521",
        "cache_key=9c1f0e7ab34d5521c9d8e7f6a5b4c3d2",
        "public_key: 9c1f0e7ab34d5521c9d8e7f6a5b4c3d2",
        "secretName: checkout-tls-7",
        "token: 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
        "password_hash: sha256:9c1f0e7ab34d5521c9d8e7f6a5b4c3d2",
        "The password is stored with argon2 and the token with sha256.",
        "Pass capture_output=True to see it; all tests pass now.",
        "The key to success is patience, and the secret ingredient is nutmeg.",
        "postgres://user:password@localhost/shop",
        "Bearer tokens are sent in a header; basic authentication-v2 is for tests.",
        "pin the version to 4821 please",
        '"pin": 12534, "token": 17434',
        "password = auth[2]",
        "w, pw = stats.shapiro(x1)",
        "commit 9c1f0e7ab34d5521c9d8e7f6a5b4c3d2deadbeef",
    ],
)
def test_what_only_talks_of_secrets_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_secret_is_found_after_other_words_that_announce_one() -> None:
    text = "secret stuff, a token gesture, the key idea; and my password is hunter2xyz"
    assert redact(text).text.endswith("my password is [redacted: password]")
