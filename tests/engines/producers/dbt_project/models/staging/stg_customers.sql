with source as (

    select * from {{ ref('customers') }}

),

renamed as (

    select
        id as customer_id,
        full_name,
        email,
        country,
        signed_up_at
    from source

)

select * from renamed
