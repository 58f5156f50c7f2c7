-- Facets of events without a run, as they came: of the job or dataset that the event is about. By place: the clock and the
-- facet, or null where a newer event has deleted it.
create table design_facets (
  tenant_id text not null,
  asset_id  uuid not null,
  facets    jsonb not null,
  primary key (asset_id, tenant_id)
);

-- The qualified names by which edges named assets that were not in PostgreSQL then. An asset in the catalogue has its own
-- name; any other is a placeholder under this one, while an edge leads to or from it.
create table named_ends (
  tenant_id      text not null,
  id             uuid not null,
  qualified_name text not null,
  named_at       timestamptz not null,
  primary key (id, tenant_id)
);

select separate_tenants('design_facets', 'named_ends');
grant select on design_facets, named_ends to lily_api;
grant select, insert, update, delete on design_facets, named_ends to lily_pipeline;
