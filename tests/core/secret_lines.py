"""Made-up secrets in the shapes in which real ones turn up: in files, logs, shells and answers of servers.

They are made when a test runs and stand in no file, so that no scanner of this tree takes them for real ones. The shapes were
written down before the patterns were tuned, and two of five are kept from tuning, told by a hash (`is_held_out`).
"""

from __future__ import annotations

import base64
import hashlib
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"

_WORDS = (
    *("summer", "Dragon", "correct", "horse", "battery", "Staple", "winter", "Berlin", "monkey", "Sunshine", "orange", "Rocket"),
    *("falcon", "Marble", "copper", "Lantern", "pepper", "Violet", "harbor", "Juniper"),
)


@dataclass(frozen=True)
class SecretLine:
    """A text with a secret in it; `secret` may not be in what is left after redaction."""

    kind: str
    text: str
    secret: str

    @property
    def is_held_out(self) -> bool:
        return is_held_out(self.text)


def is_held_out(line: str) -> bool:
    """Whether a line is kept from tuning: two of five are."""
    return hashlib.sha256(line.encode()).digest()[0] % 5 < 2


class Maker:
    """Values of the usual make-up, from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        return "".join(self.random.choices(alphabet, k=length))

    def password(self) -> str:
        """What people and generators make: words with digits and signs, random letters, hexadecimal."""
        word = self.random.choice
        return word(
            [
                f"{word(_WORDS)}{self.random.randint(10, 9999)}!",
                f"{word(_WORDS)}-{word(_WORDS)}-{word(_WORDS)}",
                f"{word(_WORDS)}#{self.of(DIGITS, 4)}",
                self.of(ALNUM, 12) + "9",
                self.of(ALNUM, 20) + "7x",
                "p" + self.of(ALNUM + "!%*+-_.^", 14) + "4",
                self.of(HEX, 32),
                f"{word(_WORDS)}{self.of(DIGITS, 3)}",
            ]
        )

    def host(self) -> str:
        return self.random.choice(["db.internal", "10.2.3.4", "mail.example.com", "api.example.com", "localhost:5432"])

    def user(self) -> str:
        return self.random.choice(["admin", "root", "deploy", "ada", "svc-backup", "app_user"])


_NAMED: Final = (
    *("DB_PASS={v}", "export MYSQL_PWD='{v}'", "PGPASSWORD={v} psql -h {h} -U {u}", "SMTP_PASS: {v}", "pass = {v}"),
    *("REDIS_PASSWORD={v}", 'export ADMIN_PW="{v}"', "APP_SECRET={v}", "ENCRYPTION_KEY={v}", "SECRET_KEY_BASE={v}"),
    *("spring.datasource.password={v}", "ftp_pass={v}", "psk={v}", 'wifi_psk="{v}"', "root_pw: {v}", "userpass={v}"),
    *("JWT_SECRET={v}", "SESSION_SECRET='{v}'", "DJANGO_SECRET_KEY='{v}'", "password: {v}", "  password: '{v}'  # prod"),
    *("MYSQL_ROOT_PASSWORD={v}", "passwd={v}", "pwd={v};", "PASSWORD={v}", "adminPassword: {v}", "login_pass={v}"),
)
_SHELL: Final = (
    *(
        "curl -u {u}:{v} https://{h}/",
        "curl --user '{u}:{v}' https://{h}/x",
        "curl -su {u}:{v} {h}",
        "wget --password={v} ftp://{h}/",
    ),
    *("wget --http-password {v} https://{h}/", "mysql -u {u} -p{v} shop", "mysqldump --user={u} --password={v} shop > x.sql"),
    *(
        "sshpass -p {v} ssh {u}@{h}",
        "sshpass -p '{v}' scp a {u}@{h}:",
        "docker login -u {u} -p {v} {h}",
        "redis-cli -h {h} -a {v} ping",
    ),
    *("vault login -method=userpass username={u} password={v}", "gh auth login --with-token {v}", "az login -u {u} -p {v}"),
    *(
        "mongosh --username {u} --password {v} {h}",
        "helm upgrade app . --set db.password={v}",
        "openssl enc -aes-256-cbc -k {v} -in a",
    ),
    *(
        "openssl rsa -passin pass:{v} -in key.pem",
        "ldapsearch -x -D cn={u} -w {v}",
        "smbclient //{h}/s -U {u}%{v}",
        "zip -P {v} a.zip a",
    ),
    *(
        "echo '{u}:{v}' | chpasswd",
        "htpasswd -b .htpasswd {u} {v}",
        "echo {v} | sudo -S ls",
        "net use x: \\\\{h}\\s /user:{u} {v}",
    ),
    *("--api-key {v} --verbose", "tool --token {v} --out x", "tool --password {v}", "client --secret={v}"),
)
_NETRC: Final = (
    *(
        "machine {h} login {u} password {v}",
        "machine {h}\nlogin {u}\npassword {v}",
        "machine {h}\n  login {u}\n  password {v}\n  account x",
    ),
    *("default login {u} password {v}", "{h}:5432:shop:{u}:{v}", "https://{u}:{v}@{h}"),
)
_NEXT_LINE: Final = (
    *("password:\n  {v}", "secret: |\n  {v}", "db_password: >-\n    {v}", "- name: DB_PASSWORD\n  value: {v}"),
    *(
        "- name: API_TOKEN\n  value: '{v}'",
        "      - key: client_secret\n        value: {v}",
        "passphrase:\n    '{v}'",
        'token:\n  "{v}"',
    ),
    *('"password":\n    "{v}"', "<password>\n  {v}\n</password>", "Password:\n{v}", "apiKey: !vault |\n  {v}"),
)
_PAIRS: Final = (
    *(
        '{{"name":"password","value":"{v}"}}',
        '{{"name": "DB_PASSWORD", "value": "{v}"}}',
        '{{"key":"client_secret","value":"{v}"}}',
    ),
    *('{{"Name":"apiKey","Value":"{v}"}}', '{{"value":"{v}","name":"password"}}', '<add key="ApiKey" value="{v}"/>'),
    *(
        '<input type="password" name="password" value="{v}">',
        '<property name="password" value="{v}"/>',
        '{{"field": "secret", "content": "{v}"}}',
    ),
    *("<td>password</td><td>{v}</td>", '[["authorization", "{v}"]]', '{{"passwords": ["{v}"]}}'),
    *('("password", "{v}")', "name=password value={v}", '[["Authorization", "Bearer {v}"]]', '{{"id":"api_token","text":"{v}"}}'),
)
_CODE: Final = (
    *('const password = "{v}";', "api_key='{v}'", "SECRET_KEY = '{v}'", 'String dbPassword = "{v}";', 'password := "{v}"'),
    *(
        'conn.setPassword("{v}");',
        'new NetworkCredential("{u}", "{v}")',
        'requests.get(url, auth=("{u}", "{v}"))',
        "'password' => '{v}',",
    ),
    *("<password>{v}</password>", "<apiKey>{v}</apiKey>", 'define("DB_PASSWORD", "{v}");', 'os.environ["API_TOKEN"] = "{v}"'),
    *(
        'let token = "{v}"',
        'private static final String SECRET = "{v}";',
        "client = Client(secret='{v}')",
        'let apiSecret: String = "{v}"',
    ),
    *(
        "IDENTIFIED BY '{v}'",
        "ALTER USER {u} WITH PASSWORD '{v}';",
        "CREATE USER {u} PASSWORD '{v}'",
        "ConvertTo-SecureString '{v}' -AsPlainText",
    ),
    *('HTTPBasicAuth("{u}", "{v}")', 'config.set("auth.token", "{v}")', '$env:API_KEY = "{v}"', "setx API_SECRET {v}"),
)
_STRINGS: Final = (
    *("postgres://{u}:{v}@{h}/shop", "DATABASE_URL=mysql://{u}:{v}@{h}/shop", "mongodb+srv://{u}:{v}@{h}/?retryWrites=true"),
    *(
        "amqp://{u}:{v}@{h}//",
        "redis://:{v}@{h}/0",
        "Server={h};User Id={u};Password={v};Encrypt=true",
        "Data Source={h};uid={u};pwd={v};",
    ),
    *(
        "jdbc:mysql://{h}/shop?user={u}&password={v}",
        "https://oauth2:{v}@{h}/a.git",
        "sftp://{u}:{v}@{h}/in",
        "ldap://{u}:{v}@{h}",
    ),
    *(
        "host={h} user={u} password={v} dbname=shop",
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={b};EndpointSuffix=x",
    ),
    *("Endpoint=sb://{h}/;SharedAccessKeyName=Root;SharedAccessKey={b}", "smtp://{u}:{v}@{h}:587"),
)
_HTTP: Final = (
    *(
        "Authorization: Bearer {b}",
        "Authorization: Basic {b}",
        "Proxy-Authorization: Basic {b}",
        "X-Api-Key: {v}",
        "x-auth-token: {v}",
    ),
    *(
        "Cookie: session={v}; theme=dark",
        "Set-Cookie: sid={v}; HttpOnly; Path=/",
        "GET /x?token={v}&a=1 HTTP/1.1",
        "GET /v1?api_key={v} 200",
    ),
    *(
        "POST /hook?access_token={v}",
        "https://{h}/f.pdf?sv=2022&sig={b}",
        "https://{h}/o?X-Amz-Signature={x}&a=1",
        "X-Vault-Token: {v}",
    ),
    *(
        "Private-Token: {v}",
        "curl -H 'X-Api-Key: {v}' https://{h}",
        "authorization=Bearer%20{v}",
        "Authorization: token {v}",
        "api-key: {v}",
    ),
    *(
        "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=h, Signature={x}",
        "id_token={v}&state=1",
        "client_secret={v}&grant_type=x",
    ),
)
_PROSE: Final = (
    *(
        "The password is {v}",
        "the password for {u} is {v}",
        "Your new password: {v}",
        "pw: {v}",
        "Login: {u} / Password: {v}",
        "User {u}, pass {v}",
    ),
    *(
        "my api key is {v}",
        "the new token is {v}",
        "Passwort: {v}",
        "mot de passe : {v}",
        "contraseña: {v}",
        "use passphrase '{v}' to unlock",
    ),
    *(
        "Temporary password: {v} (change it)",
        "password changed to {v}",
        "secret is `{v}`",
        "creds: {u}/{v}",
        "credentials: {u}:{v}",
    ),
    *("Das Passwort lautet {v}", "le mot de passe est {v}"),
    *("| password | {v} |", "- **Password:** {v}", "* API key: `{v}`", "Password = {v}", "recovery key: {v}"),
)

_TOKENS: Final[dict[str, Callable[[Maker], str]]] = {
    "github": lambda m: "gh" + m.random.choice("pousr") + "_" + m.of(ALNUM, 36),
    "github fine-grained": lambda m: "github" + "_pat_" + m.of(ALNUM, 22) + "_" + m.of(ALNUM, 59),
    "gitlab": lambda m: m.random.choice(["glpat", "gldt", "glrt", "glptt", "glcbt"]) + "-" + m.of(URLSAFE, 20),
    "slack": lambda m: "xox" + m.random.choice("bpas") + f"-{m.of(DIGITS, 12)}-{m.of(DIGITS, 12)}-{m.of(ALNUM, 24)}",
    "slack app": lambda m: f"xapp-1-A{m.of(UPPER + DIGITS, 10)}-{m.of(DIGITS, 13)}-{m.of(HEX, 64)}",
    "aws id": lambda m: m.random.choice(["AKIA", "ASIA", "ABIA", "ACCA"]) + m.of(UPPER + "234567", 16),
    "openai": lambda m: "sk-proj-" + m.of(ALNUM, 40) + "T3" + m.of(URLSAFE, 30),
    "anthropic": lambda m: "sk-ant-api03-" + m.of(URLSAFE, 93) + "AA",
    "stripe": lambda m: m.random.choice(["sk", "rk"]) + m.random.choice(["_live_", "_test_"]) + m.of(ALNUM, 24),
    "stripe webhook": lambda m: "whsec_" + m.of(ALNUM, 32),
    "google": lambda m: "AIza" + m.of(URLSAFE, 35),
    "google oauth": lambda m: "GOCSPX-" + m.of(URLSAFE, 28),
    "npm": lambda m: "npm_" + m.of(ALNUM, 36),
    "pypi": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.of(URLSAFE, 80),
    "hugging face": lambda m: "hf_" + m.of(ALNUM, 34),
    "sendgrid": lambda m: f"SG.{m.of(URLSAFE, 22)}.{m.of(URLSAFE, 43)}",
    "twilio": lambda m: "SK" + m.of(HEX, 32),
    "mailgun": lambda m: "key-" + m.of(HEX, 32),
    "mailchimp": lambda m: m.of(HEX, 32) + "-us" + m.of("12345678", 1),
    "square": lambda m: "sq0atp-" + m.of(URLSAFE, 22),
    "shopify": lambda m: m.random.choice(["shpat_", "shpss_", "shpca_"]) + m.of(HEX, 32),
    "digitalocean": lambda m: m.random.choice(["dop", "doo", "dor"]) + "_v1_" + m.of(HEX, 64),
    "databricks": lambda m: "dapi" + m.of(HEX, 32),
    "atlassian": lambda m: "ATATT3" + m.of(URLSAFE + "=", 186),
    "linear": lambda m: "lin_api_" + m.of(ALNUM, 40),
    "notion": lambda m: "ntn_" + m.of(DIGITS, 11) + m.of(ALNUM, 35),
    "figma": lambda m: "figd_" + m.of(URLSAFE, 40),
    "grafana": lambda m: f"glsa_{m.of(ALNUM, 32)}_{m.of(HEX, 8)}",
    "doppler": lambda m: "dp.pt." + m.of(ALNUM, 43),
    "pulumi": lambda m: "pul-" + m.of(HEX, 40),
    "planetscale": lambda m: "pscale_tkn_" + m.of(ALNUM + "-_.", 40),
    "postman": lambda m: f"PMAK-{m.of(HEX, 24)}-{m.of(HEX, 34)}",
    "new relic": lambda m: "NRAK-" + m.of(UPPER + DIGITS, 27),
    "sentry": lambda m: "sntrys_" + m.of(ALNUM, 60),
    "telegram": lambda m: m.of("123456789", 10) + ":AA" + m.of(URLSAFE, 33),
    "discord": lambda m: "MT" + m.of(ALNUM, 22) + "." + m.of(URLSAFE, 6) + "." + m.of(URLSAFE, 38),
    "vault": lambda m: "hvs." + m.of(URLSAFE, 92),
    "age": lambda m: "AGE-SECRET-KEY-1" + m.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "docker hub": lambda m: "dckr_pat_" + m.of(URLSAFE, 27),
    "rubygems": lambda m: "rubygems_" + m.of(HEX, 48),
    "terraform": lambda m: m.of(ALNUM, 14) + ".atlasv1." + m.of(URLSAFE, 64),
    "supabase": lambda m: "sbp_" + m.of(HEX, 40),
    "groq": lambda m: "gsk_" + m.of(ALNUM, 52),
    "replicate": lambda m: "r8_" + m.of(ALNUM, 37),
    "azure ad": lambda m: m.of(ALNUM, 3) + "8Q~" + m.of(ALNUM + "~._-", 34),
    "1password": lambda m: (
        f"A3-{m.of(UPPER, 6)}-{m.of(UPPER, 6)}-{m.of(UPPER, 5)}-{m.of(UPPER, 5)}-{m.of(UPPER, 5)}-{m.of(UPPER, 5)}"
    ),
    "flutterwave": lambda m: "FLWSECK_TEST-" + m.of(HEX, 32) + "-X",
    "jwt": lambda m: "eyJhbGciOiJIUzI1NiJ9.eyJ" + m.of(URLSAFE, 40) + "." + m.of(URLSAFE, 43),
    "facebook": lambda m: "EAA" + m.of(ALNUM, 120),
    "dynatrace": lambda m: f"dt0c01.{m.of(UPPER, 24)}.{m.of(UPPER + DIGITS, 64)}",
}

_AROUND: Final = (
    *(
        "{t}",
        "TOKEN {t} accepted",
        "  - {t}",
        "remote: {t}.",
        "({t})",
        '"{t}"',
        "log: using {t}, retrying",
        "https://x.example/?k={t}&z=1",
    ),
    *("run.sh {t} prod", "#{t}"),
)

_BLOCKS: Final = (
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


def secret_lines() -> Iterator[SecretLine]:
    """All of them, the same ones each time."""
    groups = {
        "named value": _NAMED,
        "shell": _SHELL,
        "netrc": _NETRC,
        "next line": _NEXT_LINE,
        "name and value": _PAIRS,
        "code": _CODE,
        "connection string": _STRINGS,
        "http": _HTTP,
        "prose": _PROSE,
    }
    for kind, templates in groups.items():
        for template in templates:
            for round_number in range(2):
                yield _fill(kind, template, Maker(f"{template}{round_number}"))
    for name, make in _TOKENS.items():
        for round_number in range(3):
            maker = Maker(f"{name}{round_number}")
            token = make(maker)
            yield SecretLine("known token", maker.random.choice(_AROUND).format(t=token), token)
    yield from _hidden_ones()
    yield from _blocks()


def _fill(kind: str, template: str, maker: Maker) -> SecretLine:
    values = {
        "v": maker.password(),
        "b": base64.b64encode(maker.random.randbytes(33)).decode(),
        "x": maker.of(HEX, 64),
    }
    text = template.format(**values, h=maker.host(), u=maker.user())
    return SecretLine(kind, text, next(value for name, value in values.items() if f"{{{name}}}" in template))


def _hidden_ones() -> Iterator[SecretLine]:
    """Split by characters that nobody sees, or right beside word characters."""
    for number, invisible in enumerate(("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200c\u200b")):
        for name in ("github", "stripe", "aws id", "anthropic"):
            token = _TOKENS[name](maker := Maker(f"hidden{number}{name}"))
            at = maker.random.randint(2, len(token) - 3)
            yield SecretLine("zero width", f"use {token[:at]}{invisible}{token[at:]} now", token)
        password = Maker(f"named{number}").password()
        yield SecretLine("zero width", f"pass{invisible}word={password}", password)
    for number, around in enumerate(
        ("key{t}", "x{t}", "{t}suffix!", "token{t}", "_{t}", "0{t} ", "prod{t}", "é{t}", "\\n{t}", "%3D{t}")
    ):
        for name in ("github", "stripe", "aws id", "slack"):
            token = _TOKENS[name](Maker(f"beside{number}{name}"))
            yield SecretLine("beside a word", around.format(t=token), token)


def _blocks() -> Iterator[SecretLine]:
    for block in _BLOCKS:
        maker = Maker(block)
        body = [base64.b64encode(maker.random.randbytes(48)).decode() for _ in range(4)]
        head, tail = f"-----BEGIN {block}-----", f"-----END {block}-----"
        yield SecretLine("private key", "\n".join([head, *body, tail]), body[1])
        yield SecretLine("private key", "\\n".join([f'{{"private_key": "{head}', *body, tail + '"}']), body[2])
    maker = Maker("putty")
    body = base64.b64encode(maker.random.randbytes(48)).decode()
    yield SecretLine("private key", f"Private-Lines: 1\n{body}\nPrivate-MAC: {maker.of(HEX, 64)}", body)
