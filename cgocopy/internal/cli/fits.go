package cli

import (
	"go/build"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// elsewhere says for what a generated file is, where that is not this machine:
// by its name, or by its constraint.
func elsewhere(path, src string) string {
	c := build.Default
	c.CgoEnabled = true
	if !matches(c, filepath.Base(path), "") {
		return "what its name says"
	}
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "package ") {
			return ""
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		if text := strings.TrimSpace(strings.TrimPrefix(line, "//go:build")); !matches(c, "p.go", text) {
			return text
		}
	}
	return ""
}
