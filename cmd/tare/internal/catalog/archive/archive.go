// Package archive is the form in which the SDK and the contenders travel
// inside the tare binary: one text, the same for the same sources.
//
// It begins with a line naming the format. Every file is a line
// "== path bytes", that many bytes, and a newline.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/build"
)

const format = "tare.catalog/1 (made by the command pack; do not edit)"

// File is a file of the archive.
type File struct {
	Path string // slashes, relative
	Data []byte // UTF-8 text
}

// Collect reads from the repository at root the sources that contenders are built from: the nouns,
// the SDK, the packages that generated copies call, the applications and the contenders, without
// tests.
func Collect(root string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && !wantDir(rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !wantFile(rel) || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return fmt.Errorf("%s is not text; only sources belong there", rel)
		}
		files = append(files, File{rel, data})
		return nil
	})
	return files, err
}

func wantDir(rel string) bool {
	top, _, _ := strings.Cut(rel, "/")
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	switch {
	case top == "cgocopy": // nothing of its generator
		return rel == top
	case top != "contenders" && !build.InSDK(rel+"/"):
		return false
	case name == "testdata", strings.HasPrefix(name, "."):
		return false
	}
	return true
}

func wantFile(rel string) bool {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, ".") {
		return false
	}
	if name == rel { // of the root, only the files of the SDK's module
		return name == "go.mod" || name == "LICENSE" || strings.HasSuffix(name, ".go")
	}
	if top, _, _ := strings.Cut(rel, "/"); top != "cgocopy" && top != "contenders" && !build.InSDK(rel) {
		return false
	}
	if strings.HasPrefix(rel, "cgocopy/") {
		return name == "go.mod" || strings.HasSuffix(name, ".go")
	}
	return true
}

// Format writes the archive of files, which are in lexical order if they come from Collect.
func Format(files []File) []byte {
	var b bytes.Buffer
	b.WriteString(format + "\n")
	for _, f := range files {
		fmt.Fprintf(&b, "== %s %d\n", f.Path, len(f.Data))
		b.Write(f.Data)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Parse reads an archive.
func Parse(src []byte) ([]File, error) {
	first, rest, ok := bytes.Cut(src, []byte("\n"))
	if !ok || string(first) != format {
		return nil, errors.New("not a catalog archive")
	}
	var files []File
	for len(rest) > 0 {
		var head []byte
		if head, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return nil, fmt.Errorf("cut off after %d files", len(files))
		}
		line, marked := strings.CutPrefix(string(head), "== ")
		space := strings.LastIndexByte(line, ' ')
		if !marked || space < 0 {
			return nil, fmt.Errorf("no file begins with %.40q", head)
		}
		path := line[:space]
		n, err := strconv.Atoi(line[space+1:])
		if err != nil || n < 0 || n >= len(rest) || rest[n] != '\n' {
			return nil, fmt.Errorf("%.40q: its length does not fit", path)
		}
		if !fs.ValidPath(path) || !filepath.IsLocal(filepath.FromSlash(path)) || path == "." {
			return nil, fmt.Errorf("%.40q is no path inside the archive", path)
		}
		files = append(files, File{path, rest[:n]})
		rest = rest[n+1:]
	}
	return files, nil
}
