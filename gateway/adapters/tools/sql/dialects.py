"""How sqlglot reads either database's SQL, and what a statement may be made of.

Calls are read as plain calls: sqlglot would otherwise turn many functions into its own, and write them back under other names,
so that what was judged by one name would run under another.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.sqlite import SQLite
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.parsers.sqlite import SQLiteParser

from gateway.adapters.tools.sql.settings import SqlDialect

# It warns with the text of statements that it does not know. These are hostile, and refused anyway.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_SPECIAL_SYNTAX: Final = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "OVERLAY")
"""Functions whose arguments are not a plain list."""


def _keep(parser: Any, *names: str) -> dict[str, Any]:
    return {name: parser.FUNCTION_PARSERS[name] for name in names}


class PlainPostgres(Postgres):
    """PostgreSQL, with calls kept as they are written."""

    class Parser(PostgresParser):
        """See PlainPostgres."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _keep(PostgresParser, *_SPECIAL_SYNTAX)


class PlainSqlite(SQLite):
    """SQLite, with calls kept as they are written. Names are written in backticks: in double quotes a name that no column has
    would be read as a string."""

    class Tokenizer(SQLite.Tokenizer):
        """See PlainSqlite."""

        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`", '"', ("[", "]")]

    class Parser(SQLiteParser):
        """See PlainSqlite."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _keep(SQLiteParser, "CAST")


DIALECTS: Final[dict[SqlDialect, type[Dialect]]] = {SqlDialect.SQLITE: PlainSqlite, SqlDialect.POSTGRESQL: PlainPostgres}

# ── what a statement may be made of ─────────────────────────────────────────────────────────────────────────────────────────

QUERIES: Final[tuple[type[exp.Expr], ...]] = (exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Values)

NODES: Final[frozenset[type[exp.Expr]]] = frozenset(
    {
        *QUERIES,
        *(exp.Subquery, exp.With, exp.CTE, exp.TableAlias, exp.From, exp.Join, exp.Lateral, exp.Table, exp.Unnest),
        *(exp.Where, exp.Group, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Having, exp.Order, exp.Ordered, exp.Distinct),
        *(exp.Limit, exp.Offset, exp.Fetch, exp.LimitOptions, exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup),
        *(exp.Alias, exp.Column, exp.Identifier, exp.Star, exp.Var, exp.Placeholder, exp.Anonymous, exp.Dot),
        *(exp.Literal, exp.Null, exp.Boolean, exp.Tuple, exp.Paren, exp.Case, exp.If, exp.Array, exp.Bracket, exp.Slice),
        *(exp.Cast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.AtTimeZone, exp.Collate),
        *(exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Exists, exp.Any, exp.All, exp.Escape),
        *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Like, exp.ILike, exp.Glob, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Pow, exp.Neg, exp.DPipe),
        *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift),
        *(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.JSONBContains),
        *(exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript),
        *(exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps),
        *(exp.Extract, exp.StrPosition, exp.Substring, exp.Trim, exp.Overlay),
        *(exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.Localtime, exp.Localtimestamp),
    }
)

CHANGE_NODES: Final[frozenset[type[exp.Expr]]] = NODES | {
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Schema,
    exp.OnConflict,
    exp.Returning,
}

PARTS: Final[dict[type[exp.Expr], frozenset[str]]] = {
    exp.Star: frozenset(),
    exp.Table: frozenset({"this", "db", "alias", "joins", "only", "ordinality"}),
    exp.Select: frozenset(
        {"with_", "expressions", "from_", "joins", "laterals", "where", "group", "having", "windows", "order"}
        | {"limit", "offset", "distinct"}
    ),
    exp.Insert: frozenset({"this", "expression", "conflict", "returning"}),
    exp.Update: frozenset({"this", "expressions", "from_", "where", "returning"}),
    exp.Delete: frozenset({"this", "where", "returning"}),
    exp.OnConflict: frozenset({"expressions", "action", "conflict_keys", "index_predicate", "where"}),
    exp.Returning: frozenset({"expressions"}),
}
"""The parts that these nodes may have: not INTO, FOR UPDATE, hints, samples, OR REPLACE, ON CONSTRAINT, nor any other."""

TYPES: Final = frozenset(
    {
        *(exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.DECIMAL, exp.DType.FLOAT, exp.DType.DOUBLE),
        *(exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.BOOLEAN, exp.DType.UUID, exp.DType.VARBINARY),
        *(exp.DType.DATE, exp.DType.TIME, exp.DType.TIMETZ, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.INTERVAL),
        *(exp.DType.JSON, exp.DType.JSONB, exp.DType.ARRAY),
    }
)
"""Types that a value may be cast to. `regclass` and its like look names up, and a type of somebody's own runs their code."""

# ── functions ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVERYWHERE: Final = _words("""
    abs avg ceil ceiling coalesce count cume_dist degrees dense_rank exp first_value floor lag last_value lead length ln log lower
    ltrim max min mod nth_value ntile nullif percent_rank power radians rank replace round row_number rtrim sign sqrt sum trim
    trunc upper acos asin atan atan2 cos sin tan
""")

SQLITE_FUNCTIONS: Final = _EVERYWHERE | _words("""
    char concat concat_ws date datetime format group_concat glob hex ifnull iif instr json json_array json_array_length json_each
    json_extract json_group_array json_group_object json_object json_quote json_tree json_type json_valid julianday like likely
    log10 log2 octet_length pi printf quote soundex strftime string_agg substr substring time timediff total typeof unhex unicode
    unixepoch unlikely
""")
"""`load_extension`, `readfile`, `writefile`, `edit`, `fts3_tokenizer`, `zeroblob`, `randomblob` and all else are not here."""

POSTGRESQL_FUNCTIONS: Final = _EVERYWHERE | _words("""
    age any_value array_agg array_append array_cat array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_to_string array_upper ascii bit_and bit_length bit_or bool_and bool_or btrim cardinality cbrt
    char_length character_length chr clock_timestamp concat concat_ws corr covar_pop covar_samp date_bin date_part date_trunc
    decode div encode every factorial format gcd generate_series generate_subscripts greatest grouping initcap isfinite json_agg
    json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
    json_extract_path json_extract_path_text json_object json_object_agg json_object_keys json_strip_nulls json_typeof jsonb_agg
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object jsonb_object_agg jsonb_object_keys jsonb_pretty
    jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval lcm least left log10 lpad make_date make_interval
    make_time make_timestamp make_timestamptz md5 mode now num_nonnulls num_nulls octet_length percentile_cont percentile_disc pi
    position quote_literal regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table regexp_substr regr_count regr_intercept regr_r2 regr_slope repeat reverse right row row_to_json rpad
    scale sha256 split_part starts_with stddev stddev_pop stddev_samp statement_timestamp string_agg string_to_array
    string_to_table strpos substr substring timezone to_char to_date to_hex to_json to_jsonb to_number to_timestamp
    transaction_timestamp translate unnest var_pop var_samp variance width_bucket
""")
"""None of these reads a file, names a table by a string, sleeps, calls out, sets anything, or takes a lock or a sequence."""

FUNCTIONS: Final = {SqlDialect.SQLITE: SQLITE_FUNCTIONS, SqlDialect.POSTGRESQL: POSTGRESQL_FUNCTIONS}

WORDS_BEFORE_BRACKETS: Final = _words("""
    select from where and or not in as on by having when then else case values exists any all array over filter group using
    distinct union except intersect between like ilike glob is within cast extract substring trim position overlay rollup
    cube sets lateral unnest power join outer inner cross left right full limit offset fetch first next into set similar to
    materialized recursive varchar char decimal numeric timestamp timestamptz time timetz float interval escape collate conflict
""")
"""Words of the grammar that may stand before `(` in a text that is sent; any other is a call, and has to be an allowed one."""
