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
language sql stable security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
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

-- The first ids after a place in the order of a search: by rank (the queries are those of the ranks), by the last digit of the
-- id, by id. It looks at a sixteenth of the assets and then, going by what was found there, at as many as it takes: a common
-- word costs a sixteenth of its matches, a rare one two looks per rank.
create or replace function ids_by_rank(
  queries text[], first_rank integer, after_id uuid, wanted integer,
  of_type text, of_source text, of_owner text, with_deleted boolean
) returns table (found_id uuid, found_rank integer)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
declare
  digit integer := case when after_id is null then 0 else get_byte(uuid_send(after_id), 15) & 15 end;
  width integer;
  missing integer := wanted;
  number integer;
begin
  for place in first_rank .. cardinality(queries) loop
    width := 1;
    while digit <= 15 and queries[place] <> '' loop
      return query
        select found.id, place
        from generate_series(digit, least(digit + width - 1, 15)) as at
        cross join lateral (
          select a.id from assets a
          where a.tenant_id || '' = tenant()
            and search_entries(a.tenant_id, a.id, a.name, a.qualified_name, a.owner, a.described)
                @@ entries_of(tenant(), queries[place], at)
            and (after_id is null or a.id > after_id)
            and (of_type is null or a.entity_type = of_type)
            and (of_source is null or a.data_source = of_source)
            and (of_owner is null or a.owner = of_owner)
            and (with_deleted or not a.is_deleted)
          offset 0
        ) as found
        order by at, found.id
        limit missing;
      get diagnostics number = row_count;
      missing := missing - number;
      if missing <= 0 then
        return;
      end if;
      digit := digit + width;
      width := case when number = 0 then 16 else 1 + missing * width / number end;
      after_id := null;
    end loop;
    digit := 0;
    after_id := null;
  end loop;
end
$$;

create or replace function ids_by_tag(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
  select id from assets
  where tenant_id || '' = tenant() and tags <> '{}' and tags_of_tenant(tenant_id, tags) @> array[tenant() || '/' || tag]
$$;

-- A tag that propagates counts in any layer, not only where it is effective.
create or replace function ids_by_stated(tag text) returns setof uuid
language sql stable security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off as $$
  select id from assets
  where tenant_id || '' = tenant() and stated <> '{}'
    and tags_of_tenant(tenant_id, stated) @> array[tenant() || '/' || tag]
$$;

revoke all on function ids_by_rank(text[], integer, uuid, integer, text, text, text, boolean) from public;
grant execute on function ids_by_rank(text[], integer, uuid, integer, text, text, text, boolean) to lily_api;
revoke all on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) from public;
grant execute on function ids_by_words(text), ids_by_tag(text), ids_by_stated(text) to lily_api;
