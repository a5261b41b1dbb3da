//go:build !jsoniter && !sonic && !go_json && !configfastest

package main

// listVariants returns the variants of the build with encoding/json. Other builds have only new.
func listVariants() []string { return []string{"new", "default", "default-discard"} }
