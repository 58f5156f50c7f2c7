insert into delivery_targets as t (tenant_id, target, channel, destination, failures, paused_until, tokens, refilled_at, error,
                                   is_gone, failed_at, delivered_at)
values (%(tenant)s, %(target)s, %(channel)s, %(destination)s, %(failures)s, %(paused_until)s, %(tokens)s, %(refilled_at)s,
        %(error)s, %(gone)s, case when %(failed)s then clock_timestamp() end, case when %(delivered)s then clock_timestamp() end)
on conflict (tenant_id, target) do update
set failures = excluded.failures, paused_until = excluded.paused_until, tokens = excluded.tokens,
    refilled_at = excluded.refilled_at, error = excluded.error, is_gone = excluded.is_gone,
    failed_at = coalesce(excluded.failed_at, t.failed_at), delivered_at = coalesce(excluded.delivered_at, t.delivered_at)
