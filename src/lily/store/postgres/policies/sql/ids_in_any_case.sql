select name, id::text from ids_by_name_in_any_case(%(names)s::text[], false)
