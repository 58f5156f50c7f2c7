"""The pages a browser shows: the start page and the interactive API documentation. They load nothing from elsewhere."""
