-- A batch that committed after the one that began later.
update batches set commit_number = commit_number + 1000 where id = (select min(id) from batches);
