delete from tickets where expires_at < now()
