-- A page of the tables of one type, of a data source or of all, by id.
select a.id::text, a.qualified_name
from assets a
where a.tenant_id = %(tenant)s and a.entity_type = %(type)s and a.id > %(beyond)s::uuid and not a.is_deleted
  and (%(source)s::text is null
       or normalize(casefold(normalize(a.data_source, NFC) collate "pg_unicode_fast"), NFC) = %(source)s)
order by a.id
limit %(limit)s
