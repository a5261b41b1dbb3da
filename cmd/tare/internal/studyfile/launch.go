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

// launched fails where a contender is given in more than one way, or is to be
// built with something although it is not built here.
func (r *reader) launched(path string) {
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

// command reads the words of a command line. One text could be split in more
// than one way, so it is not split.
func (r *reader) command(into *[]string) yamlfile.Take {
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

// url reads where a server listens.
func (r *reader) url(into *string) yamlfile.Take {
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

// set reads a mapping of words to scalars, which all become texts: the kind
// knows what they mean.
func (r *reader) set(into *map[string]string) yamlfile.Take {
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
			out[key.Value] = r.scalar(pairs.Value(), at)
		}
		if len(out) > 0 {
			*into = out
		}
	}
}

// scalar reads a text, a number, or true or false, as text. Numbers are
// written the shortest way: 3.0 is "3".
func (r *reader) scalar(n ast.Node, path string) (s string) {
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
