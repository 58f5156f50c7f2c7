select before, after from changes where batch_id = any(%(batches)s) and position = %(position)s
