package cli

import (
	"go/build"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// foreignTarget returns the part of a generated file that excludes it from builds on this machine: its
// build constraint, or a phrase for its name. It returns "" if this machine can build the file.
func foreignTarget(path, src string) string {
	c := build.Default
	c.CgoEnabled = true
	if !canSelect(c, filepath.Base(path), "") {
		return "the system in its name"
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
