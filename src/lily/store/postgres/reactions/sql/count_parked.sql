-- For a gauge: past a hundred thousand the exact number says no more.
select count(*) from (select from parked_events where reaction = %s limit 100000) as parked
