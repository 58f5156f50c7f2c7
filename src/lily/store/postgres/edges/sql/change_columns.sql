case when coalesce(old.version, 0) > 0 then
  jsonb_build_object('propagates', old.propagates, 'masking', old.masking, 'is_deleted', old.is_deleted) end as before,
jsonb_build_object('propagates', new.propagates, 'masking', new.masking, 'is_deleted', new.is_deleted) as after,
-- A change of an edge that was deleted and still is deleted is not a change to report.
not (coalesce(old.is_deleted, true) and new.is_deleted)
and (old.propagates, old.masking, old.is_deleted) is distinct from (new.propagates, new.masking, new.is_deleted) as differs
