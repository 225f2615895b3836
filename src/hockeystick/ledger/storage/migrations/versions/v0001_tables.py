"""The first tables, and triggers that refuse to change or remove an entry."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # where an integer has up to 64 bits
_REFUSED = "entries of the ledger are only ever added"


def upgrade() -> None:
    """From nothing."""
    op.create_table(
        "dataset",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "account",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("dataset", sa.Text, sa.ForeignKey("dataset.name"), nullable=False),
        sa.Column("seq", WHOLE, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        sa.Column("totals", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "entry",
        sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
        sa.Column("seq", WHOLE, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("request", sa.Text),
        sa.Column("settles", WHOLE),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("account", "key", name="one_key_one_execution"),
        sa.UniqueConstraint("account", "settles", name="settled_once"),
        sa.CheckConstraint("seq > 0", name="from_one_on"),
        sqlite_strict=True,
    )
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER entry_no_{verb.lower()} BEFORE {verb} ON entry BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
            )
    else:
        op.execute(
            "CREATE FUNCTION entry_only_added() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER entry_only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON entry "
            "FOR EACH STATEMENT EXECUTE FUNCTION entry_only_added()"
        )
