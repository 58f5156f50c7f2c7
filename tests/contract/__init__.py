"""What users and their tools rely on, checked over HTTP against one running stack."""
