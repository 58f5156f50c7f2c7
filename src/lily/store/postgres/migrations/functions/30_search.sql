-- The query for a tenant's assets with a last digit of the id: `words` has an @ where an entry of the index has both. Digit by
-- digit, because then the index begins with the rarest word; digits joined by "or" would have it read all words.
create or replace function entries_of(tenant text, words text, digit integer) returns tsquery
language sql immutable parallel safe
return replace(words, '@', tenant || '/' || to_hex(digit))::tsquery;

-- Row-level security filters rows before any operator that might leak them, and neither @@ nor @> is marked leakproof. So
-- lily_api could not use a GIN index and would scan the whole tenant. These functions run with the owner's rights, filter
-- by the tenant of the transaction themselves, and return ids only.
-- An index finds them, or it would read the assets of all tenants. The comparison of the tenant is written so that no index
-- that begins with it is taken instead: where statistics know nothing of a tenant, all seem equal.
create or replace function ids_by_words(words text) returns setof uuid
language sql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
  select found.id
  from generate_series(0, 15) as digit
  cross join lateral (
    select a.id from assets a
    where a.tenant_id || '' = tenant()
      and search_entries(a.tenant_id, a.id, a.name, a.qualified_name, a.owner, a.described)
          @@ entries_of(tenant(), words, digit)
    offset 0
  ) as found
$$;

-- The text of an asset that is searched, in one case.
create or replace function folded_text(name text, qualified_name text, owner text, described text) returns text
language sql immutable parallel safe
return casefold((coalesce(name || ' ', '') || qualified_name || coalesce(' ' || owner, '') || ' ' || described)
                collate "pg_unicode_fast") collate "C";

-- Whether an asset has the words of a query that its entries can answer. Most assets that lack one of the words also lack its
-- letters, which is found out at a tenth of the price: `patterns` are the words for "like".
create or replace function has_words(
  tenant_id text, id uuid, name text, qualified_name text, owner text, described text, words text, patterns text[]
) returns boolean
language sql immutable parallel safe
return case
  when folded_text(name, qualified_name, owner, described) like all (patterns)
  then search_entries(tenant_id, id, name, qualified_name, owner, described)
       @@ entries_of(tenant_id, words, get_byte(uuid_send(id), 15) & 15)
  else false end;

-- A protective tag counts in any layer, and also if it was propagated along edges and is not suppressed.
create or replace function has_protective_tag(tag text, tenant text, asset uuid, stated text[], suppressed text[]) returns boolean
language sql stable parallel safe
return tag = any (stated) or tag <> all (suppressed) and exists (
  select from derived_tags d
  where d.asset_id = asset and d.tag = has_protective_tag.tag and d.kind <> 'inherited' and d.tenant_id = tenant
);

-- Any other tag counts where it is effective. Without a tag, every asset has it.
create or replace function has_tag(
  tag text, is_protective boolean, tenant text, asset uuid, tags text[], stated text[], suppressed text[]
) returns boolean
language sql stable parallel safe
return case
  when tag is null then true
  when is_protective then has_protective_tag(tag, tenant, asset, stated, suppressed)
  else tag = any (tags) end;

-- How many of `few` assets, which are always the same ones of a tenant, have the letters of each pattern, and of all.
create or replace function sampled(patterns text[], few integer, out each integer[], out together integer)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  texts text[] := array(
    select folded_text(a.name, a.qualified_name, a.owner, a.described)
    from assets a
    where a.tenant_id = tenant() and not a.is_deleted and reversed(a.id) > '00000000-0000-0000-0000-000000000000'
    order by reversed(a.id)
    limit few
  );
begin
  each := array(
    select (select count(*) from unnest(texts) as t (text) where t.text like p.pattern)
    from unnest(patterns) with ordinality as p (pattern, number) order by p.number
  );
  together := (select count(*) from unnest(texts) as t (text) where t.text like all (patterns));
end
$$;

-- All assets that meet the first of these filters which leaves few, or have the first such word, or all words; null if none of
-- them leaves few. `words` has a query for each word and one for all of them, `numbers` how many of `few` assets have them.
create or replace function ids_by_narrow_filter(
  words text[], numbers integer[], of_type text, of_source text, of_owner text, of_tag text, is_protective boolean,
  few integer
) returns uuid[]
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  most constant integer := 3 * few;
  ids  uuid[];
  word text;
begin
  if of_tag is not null and is_protective then
    ids := array(select ids_by_protective_tag(of_tag) limit most + 1);
  elsif of_tag is not null then
    ids := array(select ids_by_tag(of_tag) limit most + 1);
  end if;
  if of_owner is not null and (ids is null or cardinality(ids) > most) then
    ids := array(select a.id from assets a where a.tenant_id = tenant() and a.owner = of_owner limit most + 1);
  end if;
  if of_source is not null and (ids is null or cardinality(ids) > most) then
    ids := array(
      select a.id from assets a
      where a.tenant_id = tenant() and a.data_source = of_source and not a.is_deleted limit most + 1
    );
  end if;
  if of_type is not null and (ids is null or cardinality(ids) > most) then
    ids := array(select a.id from assets a where a.tenant_id = tenant() and a.entity_type = of_type limit most + 1);
  end if;
  if cardinality(ids) <= most then
    return ids;
  end if;
  -- What three of the sample have is too common: `few` have it in a catalogue that is two hundred times as large.
  for word in
    select w.query from unnest(words, numbers) with ordinality as w (query, number, place)
    where w.number <= few / 200
    order by w.place = cardinality(words), w.number, length(w.query) desc
  loop
    ids := array(select ids_by_words(word) limit few + 1);
    if cardinality(ids) <= few then
      return ids;
    end if;
  end loop;
  return null;
end
$$;

-- Looks at assets one after the other, `most` of them, in the order of the id read backwards, for those with these words.
create or replace function ids_by_walk(
  query text, patterns text[], start uuid, wanted integer, most integer,
  of_type text, of_source text, of_owner text, of_tag text, is_protective boolean
) returns setof uuid
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
begin
  return query
  select w.id
  from (
    select a.*, reversed(a.id) as place from assets a
    where a.tenant_id = tenant() and not a.is_deleted and reversed(a.id) > start
    order by place
    limit most
  ) w
  where (of_type is null or w.entity_type = of_type)
    and (of_source is null or w.data_source = of_source)
    and (of_owner is null or w.owner = of_owner)
    and case when has_words(w.tenant_id, w.id, w.name, w.qualified_name, w.owner, w.described, query, patterns)
             then has_tag(of_tag, is_protective, w.tenant_id, w.id, w.tags, w.stated, w.suppressed) else false end
  order by w.place
  limit wanted;
end
$$;

-- The first ids after a place in the order of a search: by rank (the queries are those of the ranks), then by the id read
-- backwards. Whatever is asked, about `most` assets are looked at; a row that is no match is the place where that ended.
--
-- * If a filter or a word leaves few assets, all of these are looked at.
-- * What at least one asset in thirty has is looked for in one asset after the other, in that order.
-- * Otherwise the index of words has the matches of a sixteenth, and of as many more as it takes, going by what was found.
drop function if exists ids_by_rank(text[], integer, uuid, integer, text, text, text, boolean);  -- it got parameters
create or replace function ids_by_rank(
  queries text[], words text[], patterns text[], first_rank integer, after_id uuid, wanted integer,
  of_type text, of_source text, of_owner text, of_tag text, is_protective boolean, with_deleted boolean,
  few integer, most integer
) returns table (found_id uuid, found_rank integer, is_match boolean)
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
declare
  start    uuid := reversed(after_id);
  place    uuid;  -- where the walk starts
  among    uuid[];
  digit    integer;
  width    integer;
  missing  integer := wanted;
  number   integer;
  seen     integer;
  examined integer := 0;
  budget   integer;  -- of matches in a sixteenth, before the filters
  matches  uuid[];
  numbers  integer[];
  walks    boolean;
  common   boolean := false;
begin
  if not with_deleted then
    select * into numbers, number from sampled(patterns, few);
    common := number > few / 30;
    among := ids_by_narrow_filter(
      words, numbers || number, of_type, of_source, of_owner, of_tag, is_protective, few
    );
  end if;
  if among is not null then
    return query
    select m.id, m.rank, true
    from (
      select a.id, reversed(a.id) as place, case
        when queries[1] <> '' and e.entries @@ entries_of(a.tenant_id, queries[1], e.digit) then 1
        when queries[2] <> '' and e.entries @@ entries_of(a.tenant_id, queries[2], e.digit) then 2
        when queries[3] <> '' and e.entries @@ entries_of(a.tenant_id, queries[3], e.digit) then 3
        when queries[4] <> '' and e.entries @@ entries_of(a.tenant_id, queries[4], e.digit) then 4 end as rank
      from (
        select * from assets s
        where s.tenant_id = tenant() and s.id = any (among) and not s.is_deleted
          and (of_type is null or s.entity_type = of_type)
          and (of_source is null or s.data_source = of_source)
          and (of_owner is null or s.owner = of_owner)
          and has_tag(of_tag, is_protective, s.tenant_id, s.id, s.tags, s.stated, s.suppressed)
          and folded_text(s.name, s.qualified_name, s.owner, s.described) like all (patterns)
        offset 0
      ) a
      cross join lateral (
        select search_entries(a.tenant_id, a.id, a.name, a.qualified_name, a.owner, a.described) as entries,
               get_byte(uuid_send(a.id), 15) & 15 as digit
        offset 0
      ) e
    ) m
    where m.rank > first_rank or m.rank = first_rank and (start is null or m.place > start)
    order by m.rank, m.place
    limit wanted;
    return;
  end if;

  for of_rank in first_rank .. cardinality(queries) loop
    digit := case when start is null then 0 else get_byte(uuid_send(start), 0) >> 4 end;
    width := 1;
    walks := false;
    budget := 3 * few;
    if common and of_rank > 1 and queries[of_rank] <> '' then
      place := coalesce(start, '00000000-0000-0000-0000-000000000000');
      number := cardinality(array(select ids_by_walk(
        queries[of_rank], patterns, place, missing, few, of_type, of_source, of_owner, of_tag, is_protective)));
      walks := number = missing or number > few / 30;
      -- If filters leave few of many matches, it is worth half of what the walk would take to have those of a sixteenth.
      budget := greatest(budget, least(most, missing * few / greatest(number, 1)) / 2);
    end if;
    while digit <= 15 and queries[of_rank] <> '' loop
      if not walks then
        select count(*), coalesce(array_agg(f.id order by reversed(f.id)) filter (where
            (start is null or reversed(f.id) > start)
            and (of_type is null or f.entity_type = of_type)
            and (of_source is null or f.data_source = of_source)
            and (of_owner is null or f.owner = of_owner)
            and (with_deleted or not f.is_deleted)
            and has_tag(of_tag, is_protective, f.tenant_id, f.id, f.tags, f.stated, f.suppressed)
          ), '{}') into seen, matches
        from generate_series(digit, least(digit + width - 1, 15)) as at
        cross join lateral (
          select a.tenant_id, a.id, a.entity_type, a.data_source, a.owner, a.is_deleted, a.tags, a.stated, a.suppressed
          from assets a
          where a.tenant_id || '' = tenant()
            and search_entries(a.tenant_id, a.id, a.name, a.qualified_name, a.owner, a.described)
                @@ entries_of(tenant(), queries[of_rank], at)
          limit case when width = 1 and not with_deleted then budget + 1 end
        ) as f;
        walks := width = 1 and seen > budget and not with_deleted;
        place := coalesce(start, (to_hex(digit) || repeat('0', 31))::uuid);
      end if;
      if walks then
        matches := array(select ids_by_walk(
          queries[of_rank], patterns, place, missing, most, of_type, of_source, of_owner, of_tag, is_protective));
      end if;
      return query
        select m.id, of_rank, true from unnest(matches) with ordinality as m (id, number) order by m.number limit missing;
      get diagnostics number = row_count;
      missing := missing - number;
      if missing <= 0 then
        return;
      end if;
      if walks then
        return query
          select a.id, of_rank, false from assets a
          where a.tenant_id = tenant() and not a.is_deleted and reversed(a.id) > place
          order by reversed(a.id)
          offset most - 1 limit 1;
        if found then
          return;
        end if;
        exit;
      end if;
      digit := digit + width;
      examined := examined + seen;
      if examined > most and digit <= 15 then
        return query select reversed((to_hex(digit - 1) || repeat('f', 31))::uuid), of_rank, false;
        return;
      end if;
      -- As many as should have what is missing, and not many more than `few` assets to look at.
      width := least(
        case when number = 0 then 16 else 1 + missing * width / number end, greatest(few * width / greatest(seen, 1), 1)
      );
      start := null;
    end loop;
    start := null;
  end loop;
end
$$;

create or replace function ids_by_tag(tag text) returns setof uuid
language sql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
  select id from assets
  where tenant_id || '' = tenant() and tags <> '{}' and tags_of_tenant(tenant_id, tags) @> array[tenant() || '/' || tag]
$$;

-- A tag that propagates counts in any layer, not only where it is effective.
create or replace function ids_by_stated(tag text) returns setof uuid
language sql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
  select id from assets
  where tenant_id || '' = tenant() and stated <> '{}'
    and tags_of_tenant(tenant_id, stated) @> array[tenant() || '/' || tag]
$$;

-- Assets that have a protective tag in any layer, or got it along edges. Some may suppress it.
create or replace function ids_by_protective_tag(tag text) returns setof uuid
language sql stable security definer
set search_path = pg_catalog, public, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 as $$
  select ids_by_stated(tag)
  union all
  select d.asset_id from derived_tags d
  where d.tenant_id || '/' || d.tag = tenant() || '/' || ids_by_protective_tag.tag and d.kind <> 'inherited'
$$;

revoke all on function ids_by_rank(
  text[], text[], text[], integer, uuid, integer, text, text, text, text, boolean, boolean, integer, integer
) from public;
grant execute on function ids_by_rank(
  text[], text[], text[], integer, uuid, integer, text, text, text, text, boolean, boolean, integer, integer
) to lily_api;
revoke all on function ids_by_narrow_filter(text[], integer[], text, text, text, text, boolean, integer) from public;
revoke all on function sampled(text[], integer) from public;
revoke all on function ids_by_walk(text, text[], uuid, integer, integer, text, text, text, text, boolean) from public;
revoke all on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text), ids_by_protective_tag(text) from public;
grant execute on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text), ids_by_protective_tag(text) to lily_api;
