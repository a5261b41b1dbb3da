//go:build jsoniter || sonic || go_json || configfastest

package main

// listVariants returns nil: this build has only new.
func listVariants() []string { return nil }
