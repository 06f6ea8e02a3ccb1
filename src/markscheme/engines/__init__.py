"""Who scores the parts of the answers: this process, several, or a cluster. All score alike."""
