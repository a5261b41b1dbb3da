package cli

import (
	"go/build"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// foreignTarget returns what excludes a generated file from builds on this machine, its name or its
// build constraint, or "" if nothing does.
func foreignTarget(path, src string) string {
	c := build.Default
	c.CgoEnabled = true
	if !canSelect(c, filepath.Base(path), "") {
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
		if text := strings.TrimSpace(strings.TrimPrefix(line, "//go:build")); !canSelect(c, "p.go", text) {
			return text
		}
	}
	return ""
}
