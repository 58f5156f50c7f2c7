-- Returns a row if nothing newer was stated before.
insert into directory_states as known (tenant_id, source, user_name, subject, holds, at, event_id)
values (%(tenant)s, %(source)s, folded_user(%(user)s), %(subject)s, %(holds)s, %(at)s, %(event)s)
on conflict (tenant_id, source, user_name, subject) do update
set holds = excluded.holds, at = excluded.at, event_id = excluded.event_id
where (excluded.at, excluded.event_id) > (known.at, known.event_id)
returning true
