//go:build !jsoniter && !sonic && !go_json && !configfastest

package main

// listVariants are the ways to run gin with encoding/json. Other builds have only
// one, which is new.
func listVariants() []string { return []string{"new", "default", "default-discard"} }
