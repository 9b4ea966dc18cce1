"""What the gateway tells those who watch it. Lossy on purpose; the record is the audit log's business."""
