    mode = coalesce(%(changes)s ->> 'mode', t.mode),
