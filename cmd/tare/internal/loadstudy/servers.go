package loadstudy

// Servers are the sources of a comparison of running or external servers.
type Servers struct{}
