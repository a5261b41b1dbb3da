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

// This file reads the go.mod of a contender, a program that tare builds and compares.

// sdkPath is the path of the module with tare's SDK, the packages that contenders import.
const sdkPath = "github.com/tarebench/tare"

// leafModule is the Go module of a contender, as its go.mod describes it.
type leafModule struct {
	root    string // directory of go.mod
	path    string
	goLine  string // version of the go directive, e.g. 1.25; "" without one
	require []requirement
	replace []replacement

	supplied bool // replace has the builder's SDK, because go.mod has no usable replacement of the SDK
}

// requirement is a require directive.
type requirement struct {
	path, version string
	indirect      bool // needed only by another required module
}

// replacement is a replace directive.
type replacement struct {
	path    string
	version string // version to replace; "" means every one
	dir     string // absolute; "" if the replacement is a module
}

// editName returns the form of go mod edit: path or path@version.
func (r replacement) editName() string {
	if r.version == "" {
		return r.path
	}
	return r.path + "@" + r.version
}

// sdkDir returns the directory of the SDK with which the module is built, or "" if no replacement
// names one.
func (m leafModule) sdkDir() string {
	for _, r := range m.replace {
		if r.path == sdkPath {
			return r.dir
		}
	}
	return ""
}

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

// Requires reports whether the contender's go.mod requires a module, directly or indirectly.
func (l Leaf) Requires(path string) (isRequired bool, err error) {
	version, err := l.RequiredVersion(path)
	return version != "", err
}

// RequiredVersion returns the version of a module in the contender's go.mod, or "".
func (l Leaf) RequiredVersion(path string) (string, error) {
	m, err := readModule(l.Src())
	return m.requiredVersion(path), err
}

// readModule reads the go.mod in dir, or in the nearest directory above it.
func readModule(dir string) (leafModule, error) {
	root := dir
	for {
		src, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			return parseModule(root, src), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return leafModule{}, err
		}
		parent := filepath.Dir(root)
		if parent == root {
			return leafModule{}, fmt.Errorf("%s: no go.mod here or above; a contender is a Go module", dir)
		}
		root = parent
	}
}

// parseModule parses the lines of the go.mod in dir that affect a build. It skips lines that it
// does not understand, because the go command reports errors.
func parseModule(dir string, gomod []byte) leafModule {
	m := leafModule{root: dir}
	block := "" // directive of the block that the line is in
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
			m.require = append(m.require, requirement{path: words[1], version: words[2], indirect: strings.Contains(line, "// indirect")})
		case words[0] == "replace":
			if r, ok := parseReplace(dir, words[1:]); ok {
				m.replace = append(m.replace, r)
			}
		}
	}
	return m
}

// parseReplace parses the words of "path [version] => directory" or "path [version] => path
// version". Directories are relative to dir.
func parseReplace(dir string, words []string) (r replacement, ok bool) {
	arrow := slices.Index(words, "=>") // 1, or 2 after a version
	if arrow < 1 || arrow > 2 || len(words) < arrow+2 {
		return replacement{}, false
	}
	r.path = words[0]
	if arrow == 2 {
		r.version = words[1]
	}
	if len(words) == arrow+2 { // a directory: a module would have a version
		r.dir = filepath.FromSlash(words[arrow+1])
		if !filepath.IsAbs(r.dir) {
			r.dir = filepath.Join(dir, r.dir)
		}
	}
	return r, true
}

// splitWords splits a line of a go.mod. Words may be quoted; "//" begins a comment.
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
