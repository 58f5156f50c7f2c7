select topic, partition, tenant_id, next_offset from reaction_turns where reaction = %s
