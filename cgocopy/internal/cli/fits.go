package cli

import (
	"go/build"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// foreignTarget returns why the generated file at path is not built on this machine: its build constraint,
// or a phrase about its name. It returns "" if it is built. src is the content of the file.
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
