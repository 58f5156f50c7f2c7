-- What decisions need to know of assets, in one round trip: see functions/80_decision_facts.sql.
select * from decision_facts(
  %(tenant)s, %(ids)s::uuid[], %(above)s::uuid[], %(attributes)s, %(tables)s::text[], %(tags)s::text[], %(cut)s
)
