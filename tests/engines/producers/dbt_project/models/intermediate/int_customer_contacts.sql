select
    customer_id,
    lower(email) as contact,
    country
from {{ ref('stg_customers') }}
