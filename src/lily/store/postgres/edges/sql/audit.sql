-- What an edge no longer conducts, and by whose authority.
insert into audit (tenant_id, principal, action, entity, detail)
select tenant_id, coalesce(authority ->> 'by', 'unknown'), ended, from_id || '→' || to_id || ' ' || type,
       jsonb_strip_nulls(jsonb_build_object(
         'event', authority -> 'id', 'correlation', authority -> 'correlation', 'layer', authority -> 'layer',
         'job', authority -> 'job', 'run', authority -> 'run'))
from noted
where ended is not null
