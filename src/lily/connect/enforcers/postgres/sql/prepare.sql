-- What Lily keeps in the target: what was there before it, and what it has made itself. Repeatable.
create schema if not exists lily_enforcement;
-- Someone else may have made it since the plan was: a trigger on its tables would run with Lily's rights.
do $$
begin
  if not exists (
    select from pg_namespace as n join pg_roles as r on r.oid = n.nspowner
    where n.nspname = 'lily_enforcement' and r.rolname = current_user
  ) then
    raise insufficient_privilege using message = 'the schema lily_enforcement belongs to another role';
  end if;
end
$$;
comment on schema lily_enforcement is 'Kept by Lily, to restore what it changed here. Remove it with: lily enforce remove';

create table if not exists lily_enforcement.tables (
  oid oid primary key,
  schema_name name not null,
  table_name name not null,
  kept jsonb not null,
  view oid,
  view_source text,
  view_shown text,
  policies_source text,
  policies_shown text
);
comment on column lily_enforcement.tables.kept is
  'Before Lily: "table" and "columns" have who was granted SELECT [grantor, grantee, with grant option] as oids';

-- USAGE of schemas that Lily granted because a role could not have reached what it may read.
create table if not exists lily_enforcement.usages (schema oid, role oid, primary key (schema, role));

create table if not exists lily_enforcement.salt (salt text not null);
insert into lily_enforcement.salt
select gen_random_uuid()::text || gen_random_uuid()::text where not exists (select from lily_enforcement.salt);

create or replace function lily_enforcement.policies_shown(target oid) returns text
language sql stable set search_path = pg_catalog as $$
  select coalesce(md5(string_agg(concat_ws(' ', c.relrowsecurity, p.polname, p.polpermissive, p.polcmd, p.polroles,
                                           pg_get_expr(p.polqual, p.polrelid),
                                           pg_get_expr(p.polwithcheck, p.polrelid)),
                                 ', ' order by p.polname)), '')
  from pg_policy as p
  join pg_class as c on c.oid = p.polrelid
  where c.oid = target and p.polname like 'lily\_%'
$$;

create or replace function lily_enforcement.granted(acl aclitem[], owner oid) returns jsonb
language sql stable set search_path = pg_catalog as $$
  select coalesce(jsonb_agg(jsonb_build_array(a.grantor::int8, a.grantee::int8, a.is_grantable)), '[]')
  from aclexplode(acl) as a
  where a.privilege_type = 'SELECT' and a.grantee <> owner
$$;

-- The first statement of every change of a table.
create or replace function lily_enforcement.begin_table(target oid, expected_schema name, expected_name name)
returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where c.oid = target and n.nspname = expected_schema and c.relname = expected_name;
  if not found then
    raise exception using errcode = 'LY001', message = format(
      '%I.%I was renamed, moved or dropped after the plan was made', expected_schema, expected_name);
  end if;
  insert into lily_enforcement.tables as k (oid, schema_name, table_name, kept)
  select c.oid, expected_schema, expected_name, jsonb_build_object(
    'row_security', c.relrowsecurity,
    'table', lily_enforcement.granted(c.relacl, c.relowner),
    'columns', (select coalesce(jsonb_object_agg(a.attnum, lily_enforcement.granted(a.attacl, c.relowner)), '{}')
                from pg_attribute as a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attacl is not null))
  from pg_class as c
  where c.oid = target
  on conflict (oid) do update set kept = jsonb_set(k.kept, '{row_security}', excluded.kept -> 'row_security')
  where coalesce(k.policies_source, '') = ''; -- else it was Lily that enabled it
end
$$;

-- The last one: what was made looks like this, so that a later change by hand is noticed.
create or replace function lily_enforcement.finish_table(
  target oid, view_schema name, view_name name, of_view text, of_policies text)
returns void language sql set search_path = pg_catalog as $$
  update lily_enforcement.tables as k
  set schema_name = n.nspname, table_name = c.relname, view = v.oid, view_source = of_view,
      view_shown = (select md5(w.ev_action::text) from pg_rewrite as w where w.ev_class = v.oid), policies_source = of_policies,
      policies_shown = lily_enforcement.policies_shown(target)
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  left join (pg_class as v join pg_namespace as m on m.oid = v.relnamespace and m.nspname = view_schema)
    on v.relname = view_name
  where k.oid = target and c.oid = target
$$;

create or replace function lily_enforcement.grant_again(on_what text, columns text, entries jsonb, owner oid)
returns void language plpgsql set search_path = pg_catalog as $$
declare
  entry record;
  statement text;
begin
  for entry in
    select by_role.rolname as grantor, (e.value ->> 0)::oid = owner as by_owner, (e.value ->> 2)::boolean as is_grantable,
           case when (e.value ->> 1)::oid = 0 then 'PUBLIC' else quote_ident(to_role.rolname) end as grantee
    from jsonb_array_elements(entries) with ordinality as e (value, position)
    left join pg_roles as by_role on by_role.oid = (e.value ->> 0)::oid
    left join pg_roles as to_role on to_role.oid = (e.value ->> 1)::oid
    where (e.value ->> 1)::oid = 0 or to_role.oid is not null
    order by e.position
  loop
    statement := format('GRANT SELECT%s ON TABLE %s TO %s%s', columns, on_what, entry.grantee,
                        case when entry.is_grantable then ' WITH GRANT OPTION' else '' end);
    begin
      if not entry.by_owner and entry.grantor is not null then
        execute format('SET LOCAL ROLE %I', entry.grantor);
      end if;
      execute statement;
      if not entry.by_owner then
        reset role;
      end if;
    exception when insufficient_privilege then
      reset role;
      execute statement; -- as the owner: what is granted is the same, and who granted it is not
    end;
  end loop;
end
$$;

create or replace function lily_enforcement.restore_table(target oid)
returns void language plpgsql set search_path = pg_catalog as $$
declare
  was lily_enforcement.tables;
  now_there record;
  one record;
  grantees text;
begin
  select * into was from lily_enforcement.tables where oid = target;
  if was.view is not null and exists (select from pg_class where oid = was.view) then
    execute format('DROP VIEW %s', was.view::regclass);
  end if;
  select c.relowner, c.relrowsecurity, format('%I.%I', n.nspname, c.relname) as name into now_there
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where c.oid = target;
  if found and was.oid is not null then
    for one in select polname from pg_policy where polrelid = target and polname like 'lily\_%' loop
      execute format('DROP POLICY %I ON %s', one.polname, now_there.name);
    end loop;
    if was.policies_source <> '' and now_there.relrowsecurity <> (was.kept ->> 'row_security')::boolean then
      execute format('ALTER TABLE %s %s ROW LEVEL SECURITY', now_there.name,
                     case when now_there.relrowsecurity then 'DISABLE' else 'ENABLE' end);
    end if;
    select string_agg(distinct case when g.grantee = 0 then 'PUBLIC' else quote_ident(r.rolname) end, ', ')
      into grantees
      from (
        select (aclexplode(relacl)).* from pg_class where oid = target
        union all
        select (aclexplode(attacl)).* from pg_attribute where attrelid = target and attnum > 0 and not attisdropped
      ) as g
      left join pg_roles as r on r.oid = g.grantee
      where g.privilege_type = 'SELECT' and g.grantee <> now_there.relowner and (g.grantee = 0 or r.oid is not null);
    if grantees is not null then
      execute format('REVOKE SELECT ON TABLE %s FROM %s CASCADE', now_there.name, grantees);
    end if;
    perform lily_enforcement.grant_again(now_there.name, '', was.kept -> 'table', now_there.relowner);
    perform lily_enforcement.grant_again(now_there.name, format(' (%I)', a.attname), e.value, now_there.relowner)
    from jsonb_each(was.kept -> 'columns') as e
    join pg_attribute as a on a.attrelid = target and a.attnum = e.key::int2 and not a.attisdropped;
  end if;
  delete from lily_enforcement.tables where oid = target;
end
$$;

revoke all on all functions in schema lily_enforcement from public;
