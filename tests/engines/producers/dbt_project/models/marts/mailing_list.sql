with contacts as (

    select * from {{ ref('int_customer_contacts') }}

),

recent as (

    select customer_id from {{ ref('int_customer_spending') }} where last_ordered_at >= '2026-04-02'

)

select
    contacts.contact as address,
    contacts.country
from contacts
where contacts.customer_id in (select customer_id from recent)
