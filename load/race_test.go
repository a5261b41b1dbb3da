//go:build race

package load

// raced is whether the race detector watches, under which crypto/tls allocates more.
const raced = true
