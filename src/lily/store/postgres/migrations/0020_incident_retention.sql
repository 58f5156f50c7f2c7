-- Messages of resolved incidents are deleted by age.
create index incident_history_by_age on incident_history using brin (at) with (autosummarize = on);
