select topic, partition, next_offset from applied where topic = any(%s)
