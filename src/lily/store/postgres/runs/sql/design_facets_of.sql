-- The facets that events without a run have stated about an asset.
select d.facets from design_facets d where d.tenant_id = %(tenant)s and d.asset_id = %(id)s
