-- Facets of events without a run, as they came: of the job or dataset that the event is about. By place: the clock and the
-- facet, or null where a newer event has deleted it.
create table design_facets (
  tenant_id text not null,
  asset_id  uuid not null,
  facets    jsonb not null,
  primary key (asset_id, tenant_id)
);

select separate_tenants('design_facets');
grant select on design_facets to lily_api;
grant select, insert, update, delete on design_facets to lily_pipeline;
