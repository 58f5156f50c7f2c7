-- An asset that a source deleted with authority, and that a person restored, is not cut again because somebody without
-- authority deletes it: the person's newer statement decides, as `is_cut` in lily.model.assets says.
alter table assets
  alter column is_cut set expression as (
    coalesce("user" @> '{"$deleted": true, "$cut": true}', false)
    or (coalesce(source @> '{"$deleted": true, "$cut": true}', false)
        and (not coalesce("user" ? '$deleted', false)
             or coalesce(user_clocks ->> '$deleted', user_at) <= coalesce(source_clocks ->> '$deleted', source_at))));
