on conflict do nothing
