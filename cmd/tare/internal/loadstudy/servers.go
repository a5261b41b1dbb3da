package loadstudy

// Servers are the sources of a comparison: servers that nobody builds, and
// this very program as the null server.
type Servers struct{}
