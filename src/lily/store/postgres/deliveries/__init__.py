"""What is sent where: jobs of deliveries, their receipts, and the pace of each destination."""
