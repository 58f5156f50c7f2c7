-- Searches find assets by names, owner, business terms and description, of one tenant, without reading entries of others
-- (docs/decisions/0057). lily.model.search_terms has the same rules in Python.

-- The terms of a text in one case, with a blank between two. Separators are code points, because what is a letter differs
-- between versions of Unicode. A long term is cut, because an entry of the index has at most 2 kB.
create function search_words(given text) returns text
language plpgsql immutable parallel safe as $$
declare
  words text collate "C" := btrim(regexp_replace(
    casefold(given collate "pg_unicode_fast") collate "C",
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ufe00-\ufe1f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\U0001f000-\U0001faff]+',
    ' ', 'g'));
begin
  if length(words) > 64 and words ~ '[^ ]{65}' then
    return regexp_replace(words, '([^ ]{64})[^ ]+', '\1', 'g');
  end if;
  return words;
end
$$;

-- What is searched besides names. It is a column, so that an update of other attributes leaves the index alone; and it has no
-- numbers of the description, because row counts, dates and ids of runs change at every refresh.
create function search_text(business_terms text, description text) returns text
language sql immutable parallel safe
return coalesce(left(business_terms, 300) || ' ', '')
       || coalesce(regexp_replace(left(description, 500) collate "C", '\m[0-9][0-9A-Za-z]*', ' ', 'g'), '');

alter table assets
  add column described text collate "C" generated always as (search_text(
    coalesce("user" ->> 'business_terms', enriched ->> 'business_terms', source ->> 'business_terms'),
    coalesce("user" ->> 'description', enriched ->> 'description', source ->> 'description'))) stored,
  -- In the row as it is: a compressed value would count as changed at every update.
  alter column described set storage plain;

-- Each entry begins with the tenant and the last digit of the id: so a search takes as many sixteenths of the assets as it
-- needs. Then `n` and a term of the names, `t` and a term of the rest, or `k` and the beginning of the name.
create function search_entries(tenant_id text, id uuid, name text, qualified_name text, owner text, described text)
returns tsvector
language plpgsql immutable parallel safe as $$
declare
  start text collate "C" := tenant_id || '/' || right(id::text, 1);
  named text collate "C" := public.search_words(case when name is null then '' else name end);
  words text collate "C" := public.search_words(qualified_name);
  others text collate "C" := public.search_words(coalesce(owner || ' ', '') || described);
begin
  return array_to_tsvector(
    string_to_array(start || 'n' || replace(words, ' ', ' ' || start || 'n'), ' ')
    || string_to_array(start || 'n' || replace(named, ' ', ' ' || start || 'n'), ' ')
    || (string_to_array(start || 't' || replace(others, ' ', ' ' || start || 't'), ' '))[1:64]
    || array[start || 'k' || left(named, 100)]);
end
$$;

create index assets_by_search on assets using gin (search_entries(tenant_id, id, name, qualified_name, owner, described));
drop index assets_by_word;
drop function search_words(text, text);

-- The tags of an asset for an index over all tenants: each begins with the tenant.
create function tags_of_tenant(tenant_id text, tags text[]) returns text[]
language plpgsql immutable parallel safe as $$
begin
  return string_to_array(tenant_id || '/' || array_to_string(tags, e'\x1f' || tenant_id || '/'), e'\x1f');
end
$$;

drop index assets_by_tag, assets_by_stated;
create index assets_by_tag on assets using gin (tags_of_tenant(tenant_id, tags)) where tags <> '{}';
create index assets_by_stated on assets using gin (tags_of_tenant(tenant_id, stated)) where stated <> '{}';

-- Lists by owner and source, and in the order of names and of creation. A plain refresh changes none of these columns, so it
-- stays in its page. All but the first leave deleted assets out, as lists do: without a condition of their own the planner
-- could take them for the key where statistics know nothing (migration 0035). updated_at changes at every refresh.
create index assets_by_owner on assets (tenant_id, owner, id) where owner is not null;
drop index assets_by_data_source;
create index assets_by_data_source on assets (tenant_id, data_source, id) where data_source is not null and not is_deleted;
create index assets_by_name on assets (tenant_id, (case when name is null then '' else name end), id) where not is_deleted;
create index assets_by_qualified_name on assets (tenant_id, qualified_name, id) where not is_deleted;
create index assets_by_creation on assets (tenant_id, created_at, id) where not is_deleted;
