//go:build jsoniter || sonic || go_json || configfastest

package main

// listVariants returns nil, because a build with another JSON library has only the variant new.
func listVariants() []string { return nil }
