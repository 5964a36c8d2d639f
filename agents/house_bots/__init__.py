"""House bots: bots that come with Dogana."""
