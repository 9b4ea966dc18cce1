"""The handlers behind the route table, one file per subject. Each gets a `Visit` whose checks are done."""
