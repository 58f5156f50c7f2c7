-- Whether what was read for decisions since an earlier call is still so: see functions/82_decision_state.sql.
select * from decision_state(%(snapshot)s::pg_snapshot, %(server)s)
