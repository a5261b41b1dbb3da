package studyfile

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

const launchHint = "keep one: use names a contender in the catalog, program a directory with your own, command a server's command line, url a server that runs"

var (
	hostAndPort = lazyregexp.New(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`) // example.org:80, [::1]:80 or without a port
	setKey      = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)                        // key of set, e.g. log
)

// checkLaunch checks how the contender at path is started. Only one of the keys use, program, command and
// url is allowed. Keys of a build need a contender that tare builds.
func (r *reader) checkLaunch(path string) {
	first := ""
	for _, key := range []string{"use", "program", "command", "url"} {
		pos, found := r.At(path + "." + key)
		switch {
		case found && first != "":
			r.Fail(pos, "a contender with both "+first+" and "+key, launchHint)
		case found:
			first = key
		}
	}
	isBuilt := first != "command" && first != "url"
	for _, key := range []string{"with", "go", "given"} {
		if pos, found := r.At(path + "." + key); found && !isBuilt {
			r.Fail(pos, "a contender with "+first+" is not built by tare, so it cannot be built with something else", "leave "+key+" out")
		}
	}
}

// takeCommand returns a Take for a command line, a list of words. It rejects a single text, which could be
// split in several ways.
func (r *reader) takeCommand(dst *[]string) yamlfile.Take {
	hint := "its words as a list, e.g. command: ['./srv', '-port', '$PORT']"
	return func(n ast.Node, path string) {
		if _, ok := n.(*ast.SequenceNode); !ok {
			r.Want(n, path, "a list", hint)
			return
		}
		r.Texts(dst, "")(n, path)
		hasProgram := len(*dst) > 0 && (*dst)[0] != ""
		if r.Err == nil && !hasProgram {
			r.Fail(r.Of(n), "a command without a program", hint)
		}
	}
}

func (r *reader) takeURL(dst *string) yamlfile.Take {
	hint := "scheme, host and port, e.g. http://127.0.0.1:8080"
	return func(n ast.Node, path string) {
		r.Text(dst, hint)(n, path)
		if r.Err != nil {
			return
		}
		if u, err := url.Parse(*dst); err != nil || !isServer(u) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not the address of a server", *dst), hint)
		}
	}
}

// isServer reports whether a URL is the address of a server, without user and query.
func isServer(u *url.URL) bool {
	isHTTP := u.Scheme == "http" || u.Scheme == "https"
	if !isHTTP || !hostAndPort.MatchString(u.Host) {
		return false
	}
	return u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// takeSet returns a Take for a mapping of words to scalars, which become texts.
func (r *reader) takeSet(dst *map[string]string) yamlfile.Take {
	return func(n ast.Node, path string) {
		m, ok := n.(ast.MapNode)
		if !ok {
			r.Want(n, path, "a mapping", "e.g. set: {log: pty}")
			return
		}
		out := map[string]string{}
		for pairs := m.MapRange(); pairs.Next() && r.Err == nil; {
			key, ok := pairs.Key().(*ast.StringNode)
			if !ok || !setKey.MatchString(key.Value) {
				r.Fail(r.Of(pairs.Key()), "a key of set is a word", "letters, digits, - and _, e.g. set: {log: pty}")
				return
			}
			keyPath := path + "." + key.Value
			if _, isNull := pairs.Value().(*ast.NullNode); isNull {
				r.Fail(r.Of(key), keyPath+" is empty", "put a text with nothing in it in quotes: \"\"")
				return
			}
			r.Put(keyPath, pairs.Value())
			out[key.Value] = r.readScalar(pairs.Value(), keyPath)
		}
		if len(out) > 0 {
			*dst = out
		}
	}
}

// readScalar reads a text, a number or a boolean. Numbers get their shortest form: 3.0 becomes "3".
func (r *reader) readScalar(n ast.Node, path string) (s string) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value)
	case *ast.IntegerNode:
		return fmt.Sprint(n.Value)
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) {
			r.Fail(r.Of(n), path+" is out of range", "")
		}
		return strconv.FormatFloat(n.Value, 'f', -1, 64)
	case *ast.InfinityNode, *ast.NanNode:
		var unused float64
		r.Number(&unused)(n, path) // only records the error: the number is not finite
		return ""
	case *ast.StringNode, *ast.LiteralNode:
		r.Text(&s, "")(n, path)
		return s
	}
	r.Want(n, path, "a text, a number, or true or false", "one level each; list the contender or workload once per level")
	return ""
}
