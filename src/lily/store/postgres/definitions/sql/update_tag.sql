    propagates = coalesce((%(changes)s ->> 'propagates')::boolean, t.propagates),
    stopped_by_masking = coalesce((%(changes)s ->> 'stopped_by_masking')::boolean, t.stopped_by_masking),
