//go:build !jsoniter && !sonic && !go_json && !configfastest

package main

// listVariants is for encoding/json. Other builds have only new.
func listVariants() []string { return []string{"new", "default", "default-discard"} }
