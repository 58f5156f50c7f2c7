with contacts as (

    select * from {{ ref('int_customer_contacts') }}

)

select
    contacts.country,
    sum(spending.spent) as revenue
from contacts
inner join {{ ref('int_customer_spending') }} as spending on contacts.customer_id = spending.customer_id
where contacts.contact is not null
group by contacts.country
