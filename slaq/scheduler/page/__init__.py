"""The page that the scheduler serves to people: its files, its sessions, and the feed that keeps it live."""
