"""The syntax that a row filter may use, as nodes of sqlglot."""

from sqlglot import exp

_FUNCTIONS: dict[str, tuple[type[exp.Expr], ...]] = {
    "abs": (exp.Abs,),
    "cast": (exp.Cast, exp.DataType, exp.DataTypeParam),
    "coalesce": (exp.Coalesce,),
    "current_date": (exp.CurrentDate,),
    "current_timestamp": (exp.CurrentTimestamp,),
    "current_user": (exp.CurrentUser, exp.SessionUser),
    "date_trunc": (exp.TimestampTrunc, exp.DateTrunc),
    "extract": (exp.Extract, exp.Year, exp.Month, exp.Day),
    "length": (exp.Length,),
    "lower": (exp.Lower,),
    "nullif": (exp.Nullif,),
    "substring": (exp.Substring,),
    "trim": (exp.Trim,),
    "upper": (exp.Upper,),
    "||": (exp.DPipe, exp.Concat),  # Trino's text; `concat` itself treats NULL differently from engine to engine
}
FUNCTION_NAMES = tuple(sorted(_FUNCTIONS))

# Words that may stand before a parenthesis. Any other is refused before parsing: for some, such as `date(date(…`, the
# time that sqlglot takes doubles with every level. The last line is what later checks describe better.
_KEYWORDS = "and between case distinct else escape for from ilike in is like not or then when"
_OTHER_NAMES = "day mod month substr year"
_DESCRIBED_LATER = "as exists over select"
CALLABLE = frozenset({*FUNCTION_NAMES, *_KEYWORDS.split(), *_OTHER_NAMES.split(), *_DESCRIBED_LATER.split()})
SIZED_TYPES = frozenset({"char", "decimal", "numeric", "varchar"})  # which have numbers in parentheses

_PREDICATES: tuple[type[exp.Expr], ...] = (
    exp.And,
    exp.Between,
    exp.Boolean,
    exp.EQ,
    exp.Escape,
    exp.GT,
    exp.GTE,
    exp.ILike,
    exp.In,
    exp.Is,
    exp.LT,
    exp.LTE,
    exp.Like,
    exp.NEQ,
    exp.Not,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Or,
)
_VALUES: tuple[type[exp.Expr], ...] = (
    exp.Add,
    exp.Case,
    exp.Column,
    exp.Identifier,
    exp.If,
    exp.Interval,
    exp.Literal,
    exp.Mod,
    exp.Mul,
    exp.Neg,
    exp.Null,
    exp.Paren,
    exp.Sub,
    exp.Var,
)
NODES = frozenset({*_PREDICATES, *_VALUES, *(node for nodes in _FUNCTIONS.values() for node in nodes)})
BOOLEAN_NODES = (*_PREDICATES, exp.Case, exp.Coalesce, exp.Column)

UNITS = ("year", "quarter", "month", "day", "hour", "minute")  # of which engines have the same idea

_TYPE = exp.DataType.Type
TYPES = frozenset(
    {
        _TYPE.BIGINT,
        _TYPE.BOOLEAN,
        _TYPE.DATE,
        _TYPE.DATETIME,
        _TYPE.DECIMAL,
        _TYPE.DOUBLE,
        _TYPE.FLOAT,
        _TYPE.INT,
        _TYPE.SMALLINT,
        _TYPE.TEXT,
        _TYPE.TIMESTAMP,
        _TYPE.TIMESTAMPTZ,
        _TYPE.VARCHAR,
    }
)
