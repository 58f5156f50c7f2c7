delete from policy_decisions where at < now() - %s::interval
