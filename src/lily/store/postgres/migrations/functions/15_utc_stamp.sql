-- A time as the API shows it: UTC, with microseconds, in fixed width.
create or replace function utc_stamp(at timestamptz) returns text
language sql stable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;
