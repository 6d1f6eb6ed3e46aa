"""The fits of a session, live under a notebook's cell: the page's charts inside a widget."""
