//go:build !race

package nethttp_test

// raced is whether the race detector watches, which takes memory of its own.
const raced = false
