//go:build !jsoniter && !sonic && !go_json && !configfastest

package main

// variants are the ways to run gin with encoding/json. Other builds have only
// one, which is new.
func variants() []string { return []string{"new", "default", "default-discard"} }
