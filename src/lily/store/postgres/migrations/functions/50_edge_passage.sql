-- The distance (depth, steps) with which an asset passes a tag on: (0, 0) if the asset states it, else the smallest of its
-- supports: of those that are content, and of those that are an influence. No row if the asset does not have the tag,
-- suppresses it, or was deleted with authority in a tenant where deletion cuts.
--
-- Where a call is inlined, all its text parameters take the collation of the call, which is that of the tag, "C". The
-- tenant has to be given its own again: in another one it is no condition for an index, and each asset is looked up once
-- for every tenant.
create or replace function carried(p_tenant text, p_tag text, p_id uuid, p_cut boolean)
returns table (depth integer, steps integer, content boolean)
language sql stable as $$
  select label.depth, label.steps, label.content
  from (values (1)) as one (row)
  left join lateral (
    select stated, suppressed, is_cut from assets where tenant_id = p_tenant collate "default" and id = p_id offset 0
  ) a on true
  cross join lateral (
    select 0 as depth, 0 as steps, true as content where p_tag = any (a.stated)
    union all
    (select distinct on (d.kind <> 'influenced') d.depth, d.steps, d.kind <> 'influenced'
     from derived_tags d
     where d.tenant_id = p_tenant collate "default" and d.tag = p_tag and d.asset_id = p_id
       and p_tag <> all (coalesce(a.stated, '{}')) and p_tag <> all (coalesce(a.suppressed, '{}'))
     order by d.kind <> 'influenced', d.depth, d.steps)
  ) as label
  where not (p_cut and coalesce(a.is_cut, false))
$$;

-- Whether a tag with this definition passes an edge: one that conducts, whether or not it is still shown. What only decides
-- which rows or values there are is not part of them, so a definition has to name `influences` for its tag to follow such
-- edges.
create or replace function passes(conduction smallint, type text, f tags) returns boolean
language sql immutable as $$
  select conduction > 0 and not (conduction = 1 and f.stopped_by_masking)
         and case when f.edge_types is null then type <> 'influences' else type = any (f.edge_types) end
$$;

create or replace function passes(e edges, f tags) returns boolean
language sql immutable as $$
  select passes(e.conduction, e.type, f)
$$;

-- Whether an edge conducts more than it shows: it has ended, or is masked, without authority.
create or replace function is_held(e edges) returns boolean
language sql immutable as $$
  select e.conduction > 0 and (e.is_deleted or not e.propagates) or e.conduction = 2 and e.masking
$$;

-- As what a tag arrives along an edge: an influence stays one, however it goes on, and is not inherited.
create or replace function arrives_as(type text, content boolean) returns text
language sql immutable as $$
  select case when content and type <> 'influences' then 'propagated' else 'influenced' end
$$;
