-- Searches for what very many assets have walk through the assets in an order that has nothing to do with what they are
-- called or where they lie (docs/decisions/0071): by the id read backwards. So matches are spread evenly, and a page takes as
-- many steps as the share of the matches demands. The index of words is cut by the digit with which this order begins.
create function reversed(id uuid) returns uuid
language sql immutable strict parallel safe
return reverse(replace(id::text, '-', ''))::uuid;

create index assets_by_reversed_id on assets (tenant_id, reversed(id)) where not is_deleted;
