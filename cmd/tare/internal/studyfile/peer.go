package studyfile

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/tarebench/tare"
)

const (
	requiresHint = "names of programs as one would type them, e.g. requires: [fluentd]"
	filesHint    = "a text for each name, e.g. files: {fluent.conf: '…'}; a long one after |, indented"
	pathHint     = "what every path begins with: a slash first and none last, e.g. /ingest"
	deliversHint = "a pattern of the files it delivers to, an item a line, e.g. $DIR/out*.log"
	answersHint  = "known: status; leave it out for whole answers"
)

// commandKeys say more about a contender that is a command, and nothing about
// any other, in the order in which the first wrong one is told.
func commandKeys() []string { return []string{"requires", "files", "path", "delivers"} }

// peer adds the keys of a contender that is a program of somebody else's.
func (r *reader) peer(keys map[string]take, e *tare.Entry) {
	keys["requires"] = r.requires(&e.Requires)
	keys["files"] = r.files(&e.Files)
	keys["path"] = r.shaped(&e.Path, pathShape, "cannot be what paths begin with", pathHint)
	keys["delivers"] = r.shaped(&e.Delivers, notBlank, "is no pattern of files", deliversHint)
	keys["answers"] = func(n ast.Node, path string) {
		var s string
		r.text(&s, answersHint)(n, path)
		if r.err == nil && s != string(tare.AnswersStatus) {
			r.fail(r.of(n), fmt.Sprintf("unknown answers %q", s), answersHint)
		}
		e.Answers = tare.Answers(s)
	}
}

var (
	moduleName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_~.-]*(/[A-Za-z0-9_~.-]+)*$`)
	programName = regexp.MustCompile(`^[^\s/\\]+$`)
	fileName    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	pathShape   = regexp.MustCompile(`^/([^\s?#]*[^\s?#/])$`)
	notBlank    = regexp.MustCompile(`\S`)
)

// shaped reads a text that a pattern describes.
func (r *reader) shaped(into *string, shape *regexp.Regexp, isNot, hint string) take {
	return func(n ast.Node, path string) {
		r.text(into, hint)(n, path)
		if r.err == nil && !shape.MatchString(*into) {
			r.fail(r.of(n), fmt.Sprintf("%q %s", *into, isNot), hint)
		}
	}
}

// requires reads the names of programs.
func (r *reader) requires(into *[]string) take {
	return r.list(func(n ast.Node, path string) {
		var s string
		r.shaped(&s, programName, "cannot be the name of a program", requiresHint)(n, path)
		if r.err == nil && slices.Contains(*into, s) {
			r.fail(r.of(n), fmt.Sprintf("%q is listed twice", s), "")
		}
		*into = append(*into, s)
	})
}

// files reads a mapping of names to texts.
func (r *reader) files(into *map[string]string) take {
	return func(n ast.Node, path string) {
		m, ok := n.(ast.MapNode)
		if !ok {
			r.want(n, path, "a mapping", filesHint)
			return
		}
		out := map[string]string{}
		for pairs := m.MapRange(); pairs.Next() && r.err == nil; {
			key, ok := pairs.Key().(*ast.StringNode)
			if !ok || !fileName.MatchString(key.Value) {
				r.fail(r.of(pairs.Key()), "a key of files is the name of a file", "letters, digits, - . and _, not a dot first, e.g. fluent.conf")
				return
			}
			at := path + "." + key.Value
			r.at[at] = r.of(pairs.Value())
			var text string
			r.text(&text, filesHint)(pairs.Value(), at)
			out[key.Value] = text
		}
		if len(out) > 0 {
			*into = out
		}
	}
}

// commanded fails where a contender that is no command has what only one can
// have.
func (r *reader) commanded(path string) {
	if _, is := r.at[path+".command"]; is {
		return
	}
	for _, key := range commandKeys() {
		if at, given := r.at[path+"."+key]; given {
			r.fail(at, key+" of a contender that is no command", "leave "+key+" out, or give its command line, e.g. command: ['./srv', '-port', '$PORT']")
		}
	}
}
