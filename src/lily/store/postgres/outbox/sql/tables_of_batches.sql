-- Which tables have something of these batches. Most batches have changes of assets alone.
select array_remove(array[
  case when exists (select from changes where batch_id = any(%(batches)s)) then 'changes' end,
  case when exists (select from edge_changes where batch_id = any(%(batches)s)) then 'edge_changes' end,
  case when exists (select from propagated where batch_id = any(%(batches)s)) then 'propagated' end,
  case when exists (select from decisions where batch_id = any(%(batches)s)) then 'decisions' end,
  case when exists (select from rule_statements where batch_id = any(%(batches)s)) then 'rule_statements' end,
  case when exists (select from incident_statements where batch_id = any(%(batches)s)) then 'incident_statements' end,
  case when exists (select from announcements where batch_id = any(%(batches)s)) then 'announcements' end,
  case when exists (select from refresh_runs where batch_id = any(%(batches)s)) then 'refresh_requests' end,
  case when exists (select from refresh_runs where finished_batch = any(%(batches)s)) then 'refresh_ends' end,
  case when exists (select from dead_letters where batch_id = any(%(batches)s)) then 'dead_letters' end
], null) as tables
