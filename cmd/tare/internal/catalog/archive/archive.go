// Package archive reads and writes the archive that is embedded in the tare binary. It has the sources
// of the contenders, which are the programs that tare compares, and of their SDK. Equal sources have
// equal archives.
//
// The archive is a text. The first line names the format. Then follow, for each file, a line "== PATH
// LENGTH", the content of LENGTH bytes, and a newline:
//
//	== contenders/codec/stdlib/main.go 412
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

const formatLine = "tare.catalog/1 (made by the command pack; do not edit)"

// File is a file of the archive.
type File struct {
	Path string // relative to the root of the repository, with slashes
	Data []byte // text in UTF-8
}

// Collect reads the sources from which contenders are built, from the repository at root. It omits
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
			if rel != "." && !isWantedDir(rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !isWantedFile(rel) || !d.Type().IsRegular() {
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

func isWantedDir(rel string) bool {
	top, _, _ := strings.Cut(rel, "/")
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	switch {
	case top == "cgocopy": // the directories below it are a generator, which builds do not need
		return rel == top
	case top != "contenders" && !build.InSDK(rel+"/"):
		return false
	case name == "testdata", strings.HasPrefix(name, "."):
		return false
	}
	return true
}

func isWantedFile(rel string) bool {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, ".") {
		return false
	}
	if isInRoot := name == rel; isInRoot {
		return name == "go.mod" || name == "LICENSE" || strings.HasSuffix(name, ".go")
	}
	switch top, _, _ := strings.Cut(rel, "/"); top {
	case "cgocopy":
		return name == "go.mod" || strings.HasSuffix(name, ".go")
	case "contenders":
		return true
	}
	return build.InSDK(rel)
}

// Format returns the archive of files, in their order. Collect returns files sorted by path.
func Format(files []File) []byte {
	var b bytes.Buffer
	b.WriteString(formatLine + "\n")
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
	if !ok || string(first) != formatLine {
		return nil, errors.New("not a catalog archive")
	}
	var files []File
	for len(rest) > 0 { // rest begins with the next file
		var head []byte
		if head, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return nil, fmt.Errorf("cut off after %d files", len(files))
		}
		line, hasMark := strings.CutPrefix(string(head), "== ")
		space := strings.LastIndexByte(line, ' ')
		if !hasMark || space < 0 {
			return nil, fmt.Errorf("no file begins with %.40q", head)
		}
		path := line[:space]
		n, err := strconv.Atoi(line[space+1:])
		isComplete := err == nil && n >= 0 && n < len(rest) && rest[n] == '\n'
		if !isComplete {
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
