//go:build !unregistered

package main

// registered: main makes its types known before it copies.
const registered = true
