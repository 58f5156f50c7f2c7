-- An edge that conducts more than it shows is `held`.
case when coalesce(old.version, 0) = 0 then null
     when is_held(old) then jsonb_build_object(
       'propagates', old.propagates, 'masking', old.masking, 'is_deleted', old.is_deleted, 'held', true)
     else jsonb_build_object('propagates', old.propagates, 'masking', old.masking, 'is_deleted', old.is_deleted) end as before,
case when is_held(new) then jsonb_build_object(
       'propagates', new.propagates, 'masking', new.masking, 'is_deleted', new.is_deleted, 'held', true)
     else jsonb_build_object('propagates', new.propagates, 'masking', new.masking, 'is_deleted', new.is_deleted) end as after,
-- A change of an edge that was deleted and still is deleted is not a change to report, unless it changes what is conducted.
not (coalesce(old.is_deleted, true) and new.is_deleted and coalesce(old.conduction, 0) = new.conduction)
and (old.propagates, old.masking, old.is_deleted, old.conduction)
    is distinct from (new.propagates, new.masking, new.is_deleted, new.conduction) as differs,
-- Only authority ends what an edge conducts: the action of the audit.
case when new.conduction >= coalesce(old.conduction, 0) then null
     when new.conduction = 1 then 'edge.masked' when new.is_deleted then 'edge.deleted' else 'edge.blocked' end as ended
