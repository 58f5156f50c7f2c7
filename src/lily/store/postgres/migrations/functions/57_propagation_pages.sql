-- The pages of a run of propagation that is not finished (60_propagate.sql).
create or replace function put_off(
  p_tenant text, p_step text, p_tags text[], p_ids uuid[], p_kinds text[], p_roots uuid[],
  p_depths integer[] default null, p_steps integer[] default null, p_content boolean[] default null)
returns void
language sql as $$
  insert into propagation_pages (tenant_id, step, tags, ids, kinds, roots, depths, steps, content)
  select p_tenant, p_step, p_tags[at:at + 4999], p_ids[at:at + 4999], p_kinds[at:at + 4999], p_roots[at:at + 4999],
         p_depths[at:at + 4999], p_steps[at:at + 4999], p_content[at:at + 4999]
  from generate_series(1, coalesce(cardinality(p_ids), 0), 5000) as at
$$;

-- What was lost in this transaction, for later: as often as there are steps.
create or replace function put_off_losses(p_tenant text, p_steps text[]) returns void
language plpgsql as $$
begin
  with lost as (delete from touched where had returning tag, id, root),
  pages as (
    select array_agg(tag) as tags, array_agg(id) as ids, array_agg(root) as roots
    from (
      select *, row_number() over (order by id, tag) / 5000 as number
      from (select distinct on (id, tag) tag, id, root from lost order by id, tag) l
    ) l
    group by number
  )
  insert into propagation_pages (tenant_id, step, tags, ids, roots)
  select p_tenant, step, tags, ids, roots from pages cross join unnest(p_steps) as s (step);
end
$$;

-- Removes the first page of a step and returns it; a row of nulls if there is none.
create or replace function take_page(
  p_tenant text, p_step text, out tags text[], out ids uuid[], out kinds text[], out roots uuid[], out depths integer[],
  out steps integer[], out content boolean[])
language plpgsql as $$
begin
  delete from propagation_pages p
  where p.tenant_id = p_tenant and p.number = (
    select min(n.number) from propagation_pages n where n.tenant_id = p_tenant and n.step = p_step)
  returning p.tags, p.ids, p.kinds, p.roots, p.depths, p.steps, p.content
  into tags, ids, kinds, roots, depths, steps, content;
end
$$;

-- The assets that state a tag of the tenant that propagates, and the tags that more than a thousand of them state: of those
-- not all assets are in the list.
create or replace function stating_assets(p_tenant text, out ids uuid[], out crowded text[])
language sql stable set enable_seqscan = off set enable_indexscan = off as $$
  select coalesce(array_agg(distinct s.id), '{}'), coalesce(array_agg(distinct s.tag) filter (where s.number > 1000), '{}')
  from (
    select a.id, f.key as tag, row_number() over (partition by f.key) as number
    from tags f
    cross join lateral (
      select a.id from assets a
      where a.stated <> '{}' and tags_of_tenant(a.tenant_id, a.stated) @> array[p_tenant || '/' || f.key]
        and a.tenant_id = p_tenant
      limit 1001) a
    where f.tenant_id = p_tenant and f.propagates
  ) s
$$;
