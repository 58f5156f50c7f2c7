-- For a metric: beyond a hundred thousand the exact number does not matter.
select count(*) from (select from parked_events where reaction = %s limit 100000) as parked
