"""What is kept of tool servers, policy, approvals and calls."""
