//go:build !race

package load

// raced reports whether the race detector is enabled, with which crypto/tls allocates more.
const raced = false
