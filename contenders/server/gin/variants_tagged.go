//go:build jsoniter || sonic || go_json || configfastest

package main

func variants() []string { return nil }
