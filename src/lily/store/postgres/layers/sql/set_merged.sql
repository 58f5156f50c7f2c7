    {values}   = %(fields)s,
    {at}       = %(at)s,
    {clocks}   = %(clocks)s,
    version    = t.version + (t.{values} is distinct from %(fields)s)::integer,
    created_at = least(t.created_at, %(first)s),
    updated_at = greatest(t.updated_at, %(last)s)
