"""GitHub's side: the event, the changed entries, the comment, the runner's files and its log."""
