insert into batches (topic, partition, begin_offset, end_offset) values (%s, %s, %s, %s) returning id
