-- An index that begins with the tenant looks as good as the primary key for finding an asset by tenant and id where statistics
-- know nothing of the tenant: the planner then read all assets of the tenant for each. An expression is only used for names.
drop index assets_by_name_in_any_case;
create index assets_by_name_in_any_case on assets ((tenant_id || '/' || lower(qualified_name)));
