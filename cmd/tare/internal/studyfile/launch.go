package studyfile

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

const launchHint = "keep one: use names a contender in the catalog, program a directory with your own, command a server's command line, url a server that runs"

// checkLaunch fails if a contender is specified in more than one way, or if it is not built and
// has keys of a build.
func (r *reader) checkLaunch(path string) {
	first := ""
	for _, key := range []string{"use", "program", "command", "url"} {
		at, given := r.At(path + "." + key)
		switch {
		case given && first != "":
			r.Fail(at, "a contender with both "+first+" and "+key, launchHint)
		case given:
			first = key
		}
	}
	for _, key := range []string{"with", "go", "given"} {
		if at, given := r.At(path + "." + key); given && (first == "command" || first == "url") {
			r.Fail(at, "a contender with "+first+" is not built here, so it cannot be built with something else", "leave "+key+" out")
		}
	}
}

// readCommand reads the words of a command line. It rejects a single text, which could be split
// in several ways.
func (r *reader) readCommand(into *[]string) yamlfile.Take {
	hint := "its words as a list, e.g. command: ['./srv', '-port', '$PORT']"
	return func(n ast.Node, path string) {
		if _, ok := n.(*ast.SequenceNode); !ok {
			r.Want(n, path, "a list", hint)
			return
		}
		r.Texts(into, "")(n, path)
		if r.Err == nil && (len(*into) == 0 || (*into)[0] == "") {
			r.Fail(r.Of(n), "a command without a program", hint)
		}
	}
}

// readURL reads the address of a server.
func (r *reader) readURL(into *string) yamlfile.Take {
	hint := "scheme, host and port, e.g. http://127.0.0.1:8080"
	return func(n ast.Node, path string) {
		r.Text(into, hint)(n, path)
		if r.Err != nil {
			return
		}
		u, err := url.Parse(*into)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !hostAndPort.MatchString(u.Host) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			r.Fail(r.Of(n), fmt.Sprintf("%q is not the address of a server", *into), hint)
		}
	}
}

var (
	hostAndPort = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)
	setKey      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// readSet reads a mapping of words to scalars. All values become texts; the kind parses them.
func (r *reader) readSet(into *map[string]string) yamlfile.Take {
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
			at := path + "." + key.Value
			if _, null := pairs.Value().(*ast.NullNode); null {
				r.Fail(r.Of(key), at+" is empty", "put a text with nothing in it in quotes: \"\"")
				return
			}
			r.Put(at, pairs.Value())
			out[key.Value] = r.readScalar(pairs.Value(), at)
		}
		if len(out) > 0 {
			*into = out
		}
	}
}

// readScalar reads a text, number or boolean as text. Numbers have their shortest form: 3.0 is
// "3".
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
		r.Number(new(float64))(n, path)
		return ""
	case *ast.StringNode, *ast.LiteralNode:
		r.Text(&s, "")(n, path)
		return s
	}
	r.Want(n, path, "a text, a number, or true or false", "one level each; list the contender or workload once per level")
	return ""
}
