"""The tables, as queries name them; `migrations` makes them.

What is hashed is the column `body`; the other columns say what stands in it, for looking up, and are verified.
"""

from sqlalchemy import BigInteger, LargeBinary, Text, column, table

VERSION = "0001"
"""The last migration in `migrations/versions`: what this library reads and writes."""

dataset = table("dataset", column("name", Text), column("body", LargeBinary), column("hash", Text))

account = table(
    "account",
    column("name", Text),
    column("dataset", Text),
    column("seq", BigInteger),
    column("head", Text),
    column("totals", Text),
)

entry = table(
    "entry",
    column("account", Text),
    column("seq", BigInteger),
    column("kind", Text),
    column("key", Text),
    column("request", Text),
    column("settles", BigInteger),
    column("body", LargeBinary),
    column("previous", Text),
    column("hash", Text),
)
