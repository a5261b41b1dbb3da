package codec

// documentTarget makes a pointer to an empty document of the user's type. A build for a user's documents
// replaces this file.
func documentTarget() func() any { return nil }
