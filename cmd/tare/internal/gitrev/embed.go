package gitrev

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// embedPatterns returns the patterns of go:embed directives: a.txt and all:data for //go:embed a.txt
// all:data. It stops at a syntax error.
func embedPatterns(src []byte) (patterns []string) {
	file, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			args, ok := strings.CutPrefix(comment.Text, "//go:embed")
			hasSpace := strings.TrimLeft(args, " \t") != args // unlike //go:embedded
			if !ok || !hasSpace {
				continue
			}
			for args = strings.TrimSpace(args); args != ""; args = strings.TrimSpace(args) {
				pattern := strings.Fields(args)[0]
				if quoted, err := strconv.QuotedPrefix(args); err == nil {
					pattern = quoted
				}
				args = args[len(pattern):]
				if text, err := strconv.Unquote(pattern); err == nil {
					pattern = text
				}
				patterns = append(patterns, pattern)
			}
		}
	}
	return patterns
}

// embeddedFiles returns the slash paths, from root, of the files that patterns of go:embed match.
// dir is the directory of the Go file with the patterns. Invalid patterns are ignored, because the
// go command reports them.
func embeddedFiles(root, dir string, patterns []string) (names []string) {
	files := os.DirFS(filepath.Join(root, filepath.FromSlash(dir)))
	for _, pattern := range patterns {
		pattern, withHidden := strings.CutPrefix(pattern, "all:")
		matches, _ := fs.Glob(files, pattern)
		for _, match := range matches {
			_ = fs.WalkDir(files, match, func(name string, e fs.DirEntry, err error) error {
				isHidden := !withHidden && name != match && (e.Name()[0] == '.' || e.Name()[0] == '_')
				switch {
				case err != nil || isHidden && e.IsDir():
					return fs.SkipDir
				case !isHidden && e.Type().IsRegular():
					names = append(names, path.Join(dir, name))
				}
				return nil
			})
		}
	}
	return names
}
