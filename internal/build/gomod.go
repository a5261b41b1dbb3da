package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sdkPath is the module whose replacement is the SDK.
const sdkPath = "github.com/tarebench/tare"

// leafModule is the Go module of a contender, from its go.mod.
type leafModule struct {
	root    string // directory of go.mod
	path    string
	goLine  string // least Go version, e.g. 1.25; "" if there is none
	require []requirement
	replace []replacement

	supplied bool // the SDK's replacement is the builder's: go.mod has none that can be used
}

// requirement is a require directive.
type requirement struct {
	path, version string
	indirect      bool // for something that is required, not for the module itself
}

// replacement is a replace directive.
type replacement struct {
	path    string
	version string // of path; empty means every version
	dir     string // absolute; empty means replaced by another module
}

// editName returns the left side of the directive in the form of go mod edit.
func (r replacement) editName() string {
	if r.version == "" {
		return r.path
	}
	return r.path + "@" + r.version
}

// sdkDir returns the directory of the SDK that the module is built with, or "" if no replacement
// names one.
func (m leafModule) sdkDir() string {
	for _, r := range m.replace {
		if r.path == sdkPath {
			return r.dir
		}
	}
	return ""
}

// requiredVersion returns the version of the module path that go.mod requires, directly or not, or
// "" if it does not.
func (m leafModule) requiredVersion(path string) string {
	for _, r := range m.require {
		if r.path == path {
			return r.version
		}
	}
	return ""
}

// thirdParty returns the number of modules that go.mod requires, directly or not, without the SDK.
func (m leafModule) thirdParty() int {
	n := 0
	for _, r := range m.require {
		if r.path != sdkPath {
			n++
		}
	}
	return n
}

// Requires reports whether the go.mod that the contender is built with requires the
// module path, directly or not.
func (l Leaf) Requires(path string) (bool, error) {
	m, err := moduleOf(l.Src())
	return m.requiredVersion(path) != "", err
}

// moduleOf finds the module dir is in, walking up.
func moduleOf(dir string) (leafModule, error) {
	for at := dir; ; {
		src, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			return parseModule(at, src), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return leafModule{}, err
		}
		up := filepath.Dir(at)
		if up == at {
			return leafModule{}, fmt.Errorf("%s: no go.mod here or above; a contender is a Go module", dir)
		}
		at = up
	}
}

// parseModule reads the directives of the go.mod in dir that affect a build. It leaves errors to
// the go command.
func parseModule(dir string, gomod []byte) leafModule {
	m := leafModule{root: dir}
	block := ""
	for line := range strings.Lines(string(gomod)) {
		words := splitWords(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		switch {
		case words[0] == "module" && len(words) == 2:
			m.path = words[1]
		case words[0] == "go" && len(words) == 2:
			m.goLine = words[1]
		case words[0] == "require" && len(words) == 3:
			m.require = append(m.require, requirement{words[1], words[2], strings.Contains(line, "// indirect")})
		case words[0] == "replace":
			if r, ok := parseReplace(dir, words[1:]); ok {
				m.replace = append(m.replace, r)
			}
		}
	}
	return m
}

// parseReplace reads "path [version] => directory" or "… => path version".
func parseReplace(dir string, words []string) (replacement, bool) {
	arrow := slices.Index(words, "=>")
	if arrow < 1 || arrow > 2 || len(words) < arrow+2 {
		return replacement{}, false
	}
	r := replacement{path: words[0]}
	if arrow == 2 {
		r.version = words[1]
	}
	if len(words) == arrow+2 {
		r.dir = filepath.FromSlash(words[arrow+1])
		if !filepath.IsAbs(r.dir) {
			r.dir = filepath.Join(dir, r.dir)
		}
	}
	return r, true
}

// splitWords splits a line of a go.mod, in which words may be quoted and "//" begins a comment.
func splitWords(line string) []string {
	var out []string
	for {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			return out
		}
		if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] != '\'' {
			word, _ := strconv.Unquote(quoted) // QuotedPrefix has checked it
			out, line = append(out, word), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		word, _, _ := strings.Cut(line[:end], "//")
		out, line = append(out, word), line[len(word):]
	}
}
