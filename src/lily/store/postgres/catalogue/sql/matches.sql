-- How many assets have the words and the tag, counted up to a limit. The functions name the tenant.
select
  (select count(*) from (select ids_by_words(%(q)s) limit %(limit)s) as found) as words,
  (select count(*) from (
     select ids_by_protective_tag(%(tag)s) where %(is_protective)s
     union all
     select ids_by_tag(%(tag)s) where not %(is_protective)s
     limit %(limit)s
   ) as found) as tagged
