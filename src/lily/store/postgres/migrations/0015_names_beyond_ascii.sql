-- Engines write names in lower case by the rules of Unicode, and `lower` in the collation of these names folds ASCII letters
-- alone. So names that have others are found by their folded form: see ids_by_name_in_any_case. Few have, so the index is
-- small. It has a hash, because folding can make a name longer than an entry of an index may be.
create index assets_by_folded_name on assets
  (tenant_id, md5(normalize(casefold(qualified_name collate "pg_unicode_fast"), NFC)))
  where octet_length(qualified_name) <> length(qualified_name);
