package studyfile

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// GoHint is the hint for the name of a Go toolchain.
const GoHint = "a Go release with all its numbers, e.g. go1.25.5"

// Parts of goRelease: 0 or 25; 1.25; .5, rc1 or beta2.
const (
	goNumber = `(?:0|[1-9][0-9]*)`
	goMinor  = `[1-9][0-9]*\.` + goNumber
	goPatch  = `(?:\.` + goNumber + `|(?:rc|beta)[1-9][0-9]*)`
)

// goRelease matches go1.25.5, 1.25.5, 1.26rc1 and 1.26beta2. Its group is the part after "go".
var goRelease = lazyregexp.New(`^(?:go)?(` + goMinor + goPatch + `)$`)

// GoRelease returns the name of the toolchain of a Go release: go1.25.5 for go1.25.5 and
// 1.25.5. It returns false if s is not the name of one release.
func GoRelease(s string) (string, bool) {
	m := goRelease.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return "go" + m[1], true
}

// goExperiments matches +jsonv2 or +jsonv2+simd.
var goExperiments = lazyregexp.New(`^(?:\+[a-z][a-z0-9]*)+$`)

// goToolchain returns the name of a toolchain: go1.26.8+jsonv2 for 1.26.8+jsonv2. It returns false for other
// texts.
func goToolchain(s string) (string, bool) {
	i := strings.IndexByte(s, '+')
	if i < 0 {
		return GoRelease(s)
	}
	release, ok := GoRelease(s[:i])
	return release + s[i:], ok && goExperiments.MatchString(s[i:])
}

// takePins returns a Take for the modules to build a contender with: one, or a list of different ones.
func (r *reader) takePins(dst *[]string) yamlfile.Take {
	seen := map[string]bool{}
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Text(&s, "module@version or module=./dir, e.g. github.com/bytedance/sonic@v1.14.0")(n, path)
		if r.Err != nil {
			return
		}
		w, err := build.ParseWith(s, ".")
		switch {
		case err != nil:
			r.Fail(r.Of(n), err.Error(), "")
		case seen[w.Path]:
			r.Fail(r.Of(n), fmt.Sprintf("module %s is listed twice", w.Path), "build with one version of it, or list the contender twice")
		}
		seen[w.Path] = true
		*dst = append(*dst, s)
	})
}

// takeRelease returns a Take for the name of a Go toolchain.
func (r *reader) takeRelease(dst *string) yamlfile.Take {
	return func(n ast.Node, path string) {
		var s string
		r.Text(&s, GoHint)(n, path)
		if r.Err != nil {
			return
		}
		toolchain, ok := goToolchain(s)
		if !ok {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not a Go release", s), GoHint)
		}
		*dst = toolchain
	}
}
