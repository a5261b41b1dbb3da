package codec

// documentTarget returns a function that makes a pointer to an empty document of the user's type, or nil if
// the build has no such type, as in this file. A build for a user's documents replaces this file.
func documentTarget() func() any { return nil }
