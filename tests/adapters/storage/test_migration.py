"""The schema: from nothing, from a used database, back again, and never different from what the code believes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from gateway.adapters.storage.migration import HEAD, current_revision, migrate
from gateway.adapters.storage.sqlite import DATABASE, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.adapters.storage.tables import metadata
from gateway.installation import installed_folder
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import DELETE, OPERATOR, WRITE, History


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Engine]:
    engine = open_for_writing(tmp_path / DATABASE)
    yield engine
    engine.dispose()


def alembic(database: Engine, to: str, *, down: bool = False) -> None:
    config = Config()
    config.set_main_option("script_location", str(installed_folder("migrations")))
    with database.begin() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, to)


def tables_of(database: Engine) -> set[str]:
    with database.connect() as connection:
        return set(inspect(connection).get_table_names()) - {"alembic_version"}


def words_of(definition: str) -> list[str]:
    """A definition whose constraints are in no particular order."""
    return sorted(definition.replace(",", " ").split())


def test_the_newest_script_is_the_revision_this_version_works_on() -> None:
    scripts = ScriptDirectory(str(installed_folder("migrations")))
    assert scripts.get_heads() == [HEAD]


def test_an_empty_database_gets_every_table(database: Engine) -> None:
    with database.begin() as connection:
        assert current_revision(connection) is None
        migrate(connection)
        assert current_revision(connection) == HEAD
        migrate(connection)
    assert tables_of(database) == set(metadata.tables)


# An index on an expression is compared by the next test alone.
@pytest.mark.filterwarnings("ignore:.*expression-based index")
def test_the_migrated_schema_is_what_the_tables_say(database: Engine) -> None:
    """What `alembic check` asks."""
    alembic(database, "head")
    with database.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_the_migrated_schema_is_the_declared_one_to_the_letter(database: Engine, tmp_path: Path) -> None:
    """Where autogenerate is blind: WITHOUT ROWID, partial indexes, constraint names."""
    declared = open_for_writing(tmp_path / "declared.db")
    alembic(database, "head")
    with declared.begin() as connection:
        migrate(connection)
    definitions: list[dict[str, list[str]]] = []
    for engine in (database, declared):
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
            definitions.append({row.name: words_of(row.sql) for row in rows})
    declared.dispose()
    assert definitions[0] == definitions[1]
    assert "alembic_version" in definitions[0]


def test_going_back_takes_everything_away_and_forward_again_works(database: Engine) -> None:
    alembic(database, "head")
    alembic(database, "base", down=True)
    assert tables_of(database) == set()
    alembic(database, "head")
    assert tables_of(database) == set(metadata.tables)


async def test_questions_of_an_older_database_get_their_places_in_the_log(tmp_path: Path) -> None:
    history = History()
    async with open_store(tmp_path, origin=ORIGIN) as store:
        await store.ledger.append(*history.beginning())
        for number in range(3):
            await store.ledger.append(history.ask(history.request(f"call-{number}", WRITE), f"apr_{number}"))
            history.now -= 100
    database = open_for_writing(tmp_path / DATABASE)
    alembic(database, "0002", down=True)
    database.dispose()
    async with open_store(tmp_path, origin=ORIGIN) as store:
        listed = await store.records.approvals(OPERATOR.id, limit=5)
        assert [approval.id for approval in listed] == ["apr_2", "apr_1", "apr_0"]
        session = await store.records.session("ses_1")
        assert session is not None
        assert session.denials == 0


async def test_calls_of_an_older_database_are_known_to_have_run_or_not(tmp_path: Path) -> None:
    history = History()
    ran, refused, running = history.request("call-1"), history.request("call-2", DELETE), history.request("call-3", WRITE)
    async with open_store(tmp_path, origin=ORIGIN) as store:
        await store.ledger.append(*history.beginning())
        await store.ledger.append(history.intend(ran), history.close(ran), history.refuse(refused))
        await store.ledger.append(history.intend(running))
        assert await store.records.tools_in_session("ses_1") == {ran.tool, running.tool}
    database = open_for_writing(tmp_path / DATABASE)
    alembic(database, "0008", down=True)
    database.dispose()
    async with open_store(tmp_path, origin=ORIGIN) as store:
        assert await store.records.tools_in_session("ses_1") == {ran.tool, running.tool}


async def test_a_used_database_keeps_what_it_has(tmp_path: Path) -> None:
    async with open_store(tmp_path, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
        size = await store.records.audit_size()
    database = open_for_writing(tmp_path / DATABASE)
    alembic(database, "head")
    database.dispose()
    async with open_store(tmp_path, origin=ORIGIN) as store:
        assert await store.records.audit_size() == size
        assert await store.records.principals() == (OPERATOR,)


def test_an_empty_database_needs_no_alembic(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing it and going through every revision takes longer than all else that a first start does to its database."""
    monkeypatch.setitem(sys.modules, "alembic", None)
    with database.begin() as connection:
        migrate(connection)
        assert current_revision(connection) == HEAD
