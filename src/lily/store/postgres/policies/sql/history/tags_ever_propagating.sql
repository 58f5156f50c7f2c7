-- The keys of the tags whose definition lets them propagate, or did so once.
select key from tags where tenant_id = %(tenant)s and propagates
union
select name from decisions
where tenant_id = %(tenant)s and kind = 'tag'
  and (before -> 'propagates' = 'true' or after -> 'propagates' = 'true')
