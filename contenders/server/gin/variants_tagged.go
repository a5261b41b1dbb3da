//go:build jsoniter || sonic || go_json

package main

func variants() []string { return nil }
