package cli

import (
	"go/build"
	"go/build/constraint"
	"io"
	"path/filepath"
	"strings"
)

// elsewhere says for what a generated file is, where that is not this machine:
// by its name, or by its constraint. Tags that name no system and no processor
// are taken to be set: the file was generated with them in mind.
func elsewhere(path, src string) string {
	c := build.Default
	c.CgoEnabled = true
	named := c
	named.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }
	if ok, err := named.MatchFile(filepath.Dir(path), filepath.Base(path)); err == nil && !ok {
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
		expr, err := constraint.Parse(line)
		if err != nil {
			return ""
		}
		fits := expr.Eval(func(tag string) bool {
			probe := c
			if !platform(tag) {
				return true
			}
			probe.OpenFile = func(string) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader("//go:build " + tag + "\n\npackage p\n")), nil
			}
			ok, err := probe.MatchFile(".", "p.go")
			return ok && err == nil
		})
		if !fits {
			return expr.String()
		}
	}
	return ""
}

// platform reports whether a tag names a system, a processor, or a kind of
// system, as go tool dist list and go help buildconstraint have them.
func platform(tag string) bool {
	switch tag {
	case "aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9", "solaris", "unix", "wasip1", "windows",
		"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64", "s390x", "wasm":
		return true
	}
	return false
}
