-- Where a tag goes from an asset that has it, `p_depth` edges from its origin, in one step: along edges (1) and down the
-- hierarchy (0), and as what it arrives. Assets that state the tag themselves are among them.
create or replace function next_steps(p_tenant text, f tags, p_id uuid, p_depth integer, p_content boolean)
returns table (id uuid, kind text, edges integer)
language sql stable as $$
  select e.to_id, arrives_as(e.type, p_content), 1
  from (select * from edges e where e.from_id = p_id and e.tenant_id = p_tenant offset 0) e
  where f.direction <> 'upstream' and passes(e.conduction, e.type, f) and p_depth < coalesce(f.max_depth, p_depth + 1)
  union all
  select e.from_id, arrives_as(e.type, p_content), 1
  from (select * from edges e where e.to_id = p_id and e.tenant_id = p_tenant offset 0) e
  where f.direction <> 'downstream' and passes(e.conduction, e.type, f) and p_depth < coalesce(f.max_depth, p_depth + 1)
  union all
  select c.id, 'inherited', 0 from conducting_children(p_tenant, p_id) c where p_content
$$;

-- Whether an asset passes a tag on that it has: not where it suppresses it, nor where it was deleted and deletion cuts.
create or replace function is_stopped(p_tenant text, p_tag text, p_id uuid, p_cut boolean) returns boolean
language sql stable as $$
  select coalesce((
    select not p_tag = any (a.stated) and p_tag = any (a.suppressed) or p_cut and a.is_cut
    from assets a where a.tenant_id = p_tenant collate "default" and a.id = p_id), false)
$$;
