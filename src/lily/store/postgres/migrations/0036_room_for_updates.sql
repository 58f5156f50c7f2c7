-- Nearly every event updates an asset in place, without touching one of its fourteen indexes, if its page has room for another
-- version. A batch states a tenth of all assets and more, so a page needs room for several: with 80 % one update in six moved
-- to another page, and the table grew by more than the room that this leaves (docs/decisions/0056). Pages that exist keep
-- their rows.
alter table assets set (fillfactor = 65);
