package studyfile

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

const (
	requiresHint = "names of programs as one would type them, e.g. requires: [fluentd]"
	filesHint    = "a text for each name, e.g. files: {fluent.conf: '…'}; a long one after |, indented"
	pathHint     = "what every path begins with: a slash first and none last, e.g. /ingest"
	deliversHint = "a pattern of the files it delivers to, an item a line, e.g. $DIR/out*.log; or $DESTINATION if it sends them on over HTTP"
	answersHint  = "known: status; omit it for complete answers"
)

var (
	moduleName  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_~.-]*(/[A-Za-z0-9_~.-]+)*$`) // github.com/bytedance/sonic
	programName = lazyregexp.New(`^[^\s/\\]+$`)                                        // fluentd
	fileName    = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)                      // fluent.conf
	pathShape   = lazyregexp.New(`^/([^\s?#]*[^\s?#/])$`)                              // /ingest, without a slash at the end
	notBlank    = lazyregexp.New(`\S`)
)

// commandKeys returns the keys that require key command, in the order in which they are checked.
func commandKeys() []string { return []string{"requires", "files", "path", "delivers"} }

// addPeerKeys adds the keys of a contender that is an external program, with the functions that decode their
// values into e.
func (r *reader) addPeerKeys(keys map[string]yamlfile.Take, e *tare.Entry) {
	keys["requires"] = r.takeRequires(&e.Requires)
	keys["files"] = r.takeFiles(&e.Files)
	keys["path"] = r.Shaped(&e.Path, pathShape, "cannot be what paths begin with", pathHint)
	keys["delivers"] = r.Shaped(&e.Delivers, notBlank, "is no pattern of files", deliversHint)
	keys["answers"] = func(n ast.Node, path string) {
		var s string
		r.Text(&s, answersHint)(n, path)
		if r.Err == nil && s != string(tare.AnswersStatus) {
			r.Fail(r.Of(n), fmt.Sprintf("unknown answers %q", s), answersHint)
		}
		e.Answers = tare.Answers(s)
	}
}

// takeRequires returns a Take for the names of programs.
func (r *reader) takeRequires(dst *[]string) yamlfile.Take {
	return r.List(func(n ast.Node, path string) {
		var s string
		r.Shaped(&s, programName, "cannot be the name of a program", requiresHint)(n, path)
		if r.Err == nil && slices.Contains(*dst, s) {
			r.Fail(r.Of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*dst = append(*dst, s)
	})
}

// takeFiles returns a Take for a mapping of names to texts.
func (r *reader) takeFiles(dst *map[string]string) yamlfile.Take {
	return func(n ast.Node, path string) {
		m, ok := n.(ast.MapNode)
		if !ok {
			r.Want(n, path, "a mapping", filesHint)
			return
		}
		out := map[string]string{}
		for pairs := m.MapRange(); pairs.Next() && r.Err == nil; {
			key, ok := pairs.Key().(*ast.StringNode)
			if !ok || !fileName.MatchString(key.Value) {
				r.Fail(r.Of(pairs.Key()), "a key of files is the name of a file", "letters, digits, - . and _, not a dot first, e.g. fluent.conf")
				return
			}
			keyPath := path + "." + key.Value
			r.Put(keyPath, pairs.Value())
			var text string
			r.Text(&text, filesHint)(pairs.Value(), keyPath)
			out[key.Value] = text
		}
		if len(out) > 0 {
			*dst = out
		}
	}
}

func (r *reader) checkCommandKeys(path string) {
	if _, found := r.At(path + ".command"); found {
		return
	}
	for _, key := range commandKeys() {
		if pos, found := r.At(path + "." + key); found {
			r.Fail(pos, key+" of a contender that is no command", "leave "+key+" out, or give its command line, e.g. command: ['./srv', '-port', '$PORT']")
		}
	}
}
