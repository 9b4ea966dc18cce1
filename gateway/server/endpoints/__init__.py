"""The handlers of the route table, one file per subject. Each gets a `RequestContext`, whose checks have passed."""
