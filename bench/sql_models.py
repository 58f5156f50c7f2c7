"""A dbt project, compiled: models in layers, each about 400 bytes: CREATE TABLE AS with common table expressions."""

COLUMNS = ("id", "email", "amount", "created_at", "is_deleted")
SOURCES = 3  # a third of the models read a source table


def source(number: int) -> str:
    return f"shop.raw.source_{number}"


def model(number: int) -> str:
    """Reads a source or the model before it, and joins the one before that."""
    first = source(number) if number % SOURCES == 0 else f"shop.analytics.model_{number - 1}"
    other = f"shop.analytics.model_{number - 2}" if number > 1 else source(number)
    # Only analyzed, and never executed.
    return f"""create table shop.analytics.model_{number} as (
with source as (select * from {first}),
renamed as (select id as model_id, lower(trim(email)) as email, amount, created_at from source where not is_deleted),
joined as (
  select r.model_id as id, r.email, r.amount + coalesce(o.amount, 0) as amount, r.created_at, false as is_deleted
  from renamed r left join {other} o on o.id = r.model_id
)
select * from joined
);
"""  # noqa: S608


def project(models: int) -> str:
    return "".join(model(number) for number in range(models))
