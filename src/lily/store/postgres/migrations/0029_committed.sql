-- What was committed stays true (docs/decisions/0047).

-- The order in which batches are published. A batch has its id when it begins, and a batch that began earlier may have
-- changed an asset later. Its number is drawn at the end of its transaction: a batch that waited for an asset of another
-- one (they lock the rows that they change) has the greater number.
create sequence batches_commit_number_seq;
alter table batches add column commit_number bigint;
update batches set commit_number = id;
select setval('batches_commit_number_seq', coalesce((select max(id) from batches), 0) + 1, false);

-- Deferred, so it runs in the commit. The roles that insert batches must not be able to number them.
create function number_batch() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update batches set commit_number = nextval('batches_commit_number_seq') where id = new.id;
  return null;
end
$$;
revoke all on function number_batch() from public;
create constraint trigger numbered after insert on batches deferrable initially deferred
for each row execute function number_batch();

drop index batches_unpublished;
create index batches_unpublished on batches (commit_number) where published_at is null;

-- Promotion looks for refused records of assets: the lake has them too.
create index dead_letters_by_key on dead_letters (tenant_id, md5(key));

-- Positions are the ids of events by which consumers drop repeats, so none may be used twice, also if the database was
-- restored from a backup. Whatever draws positions raises the sequence when it starts: to the microseconds since 1970. No
-- sequence gets there by counting, so they are above every position that was ever drawn.
create function raise_positions() returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  floor constant bigint := extract(epoch from clock_timestamp()) * 1000000;
begin
  perform pg_advisory_xact_lock(hashtext('raise_positions'));
  -- A second ahead: positions that others draw meanwhile are not drawn again.
  if floor > (select last_value from changes_position_seq) + 1000000 then
    perform setval('changes_position_seq', floor);
  end if;
end
$$;
revoke all on function raise_positions() from public;
grant execute on function raise_positions() to lily_api, lily_pipeline;

-- A lake that was restored from a backup has fewer batches than were recorded here.
grant delete on lake_batches to lily_pipeline;
