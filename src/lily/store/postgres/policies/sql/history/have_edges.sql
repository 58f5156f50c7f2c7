-- Which of these assets have, or have had, an edge: a deleted edge keeps its row.
select distinct q.id::text
from unnest(%(ids)s::uuid[]) as q (id)
where exists (select from edges e where e.tenant_id = %(tenant)s and e.to_id = q.id offset 0)
   or exists (select from edges e where e.tenant_id = %(tenant)s and e.from_id = q.id offset 0)
