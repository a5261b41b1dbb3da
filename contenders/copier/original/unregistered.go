//go:build unregistered

package main

const registered = false
