"""Alembic's migrations of the tables; `env` is what Alembic runs, and `upgrade` asks it to."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def upgrade(connection: "Connection") -> None:
    """Brings the tables to the newest version, within the transaction of this connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
