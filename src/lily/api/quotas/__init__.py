"""What each tenant may send to this process: requests, decisions, events, bytes, connections."""
