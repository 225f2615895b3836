"""Other libraries' words, translated to ours and back; each needs its extra, and nothing is imported unless asked."""
