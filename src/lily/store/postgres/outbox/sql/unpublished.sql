-- Committed batches that are not published. Any that becomes visible later with a smaller number has no asset in common with
-- these: it would have been committed before they could change it.
select id from batches where published_at is null order by commit_number limit %s
