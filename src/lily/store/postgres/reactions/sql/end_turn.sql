delete from reaction_turns t
using (select %s as reaction, unnest(%s::text[]) as topic, unnest(%s::integer[]) as partition) as ended
where t.reaction = ended.reaction and t.topic = ended.topic and t.partition = ended.partition
