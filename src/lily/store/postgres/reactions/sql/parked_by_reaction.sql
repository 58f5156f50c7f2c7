select reaction, count(*) from parked_events group by reaction
