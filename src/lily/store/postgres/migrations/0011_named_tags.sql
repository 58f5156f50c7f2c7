-- Tags that policies name, who may disable users, and how long the past of policies is kept.

-- The tags that a tenant's policies name, folded: they are protective. The pipeline reads them with every batch, so they
-- are stored once per tenant, and functions/47_named_tags.sql changes them in the transaction that changes a policy.
-- `policies.names` has them too, beside the subjects: `t:pii`.
alter table access_versions
  add column named_tags   text[] collate "C" not null default '{}',
  -- What was valid before this time is no longer in the history.
  add column history_from timestamptz not null default '-infinity';

update policies p set names = names || array(
  select distinct 't:' || normalize(casefold(normalize(r.resource ->> 'tag', NFC) collate "pg_unicode_fast"), NFC)
  from jsonb_array_elements(p.body -> 'resources') as r (resource)
  where r.resource ? 'tag' and r.resource ->> 'tag' <> '*'
);
update access_versions v set named_tags = array(
  select distinct substr(n.name, 3)
  from policies p cross join unnest(p.names) as n (name)
  where p.tenant_id = v.tenant_id and n.name ^@ 't:'
  order by 1
);

-- Housekeeping deletes what ended long ago, and records since when the history is complete.
create index access_history_by_end on access_history (valid_to) where valid_to is not null;
grant delete on access_history to lily_pipeline;
grant update (history_from) on access_versions to lily_pipeline;

-- The API disables and enables users of its tenant.
grant insert, delete on disabled_users to lily_api;
