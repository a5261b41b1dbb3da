//go:build !unregistered

package main

// registered reports whether main registers its types.
const registered = true
