-- Policies for which a day became complete since their assets were last judged.
select tenant_id, key
from quality_policies
where judged_at is null
   or ((judged_at - make_interval(hours => delay_hours)) at time zone 'UTC')::date
      < ((%(now)s::timestamptz - make_interval(hours => delay_hours)) at time zone 'UTC')::date
order by tenant_id, key
