package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
)

// This file reads archives of results, which tare history export writes, and stores their results as
// runs. An archive is a file of JSON documents.

// DocumentInfo describes a result document in an archive or an index.
type DocumentInfo struct {
	Study  string `json:"study"`
	SHA256 string `json:"sha256"` // of the document without insignificant space
	Path   string `json:"path"`   // path of the run's directory

	// ImportDocument names the new directory "started-seed".
	started string // start time in the format NameTime
	seed    string // the start of SHA256 if the seed is not a number
}

// Scan reads the documents in an archive. It calls do for each result, with its text without
// insignificant space. The text may be retained. Any other document is an [*Error] with the position in
// the archive.
func Scan(name string, in io.Reader, do func(k DocumentInfo, text []byte) error) error {
	return scanDocuments(name, in, MaxBytes, maxLines, do)
}

// scanDocuments is Scan with bounds on each document, including the space before it.
func scanDocuments(name string, in io.Reader, maxBytes int64, maxLines int, do func(k DocumentInfo, text []byte) error) error {
	counted := &counter{in: in, maxBytes: maxBytes, maxLines: maxLines} // Read fails if a document is too large
	dec := json.NewDecoder(counted)
	for {
		var raw json.RawMessage
		begin := dec.InputOffset()
		counted.dropBefore(begin)
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil // an empty archive is valid
		}
		if err != nil {
			return scanError(name, err, counted, begin)
		}
		line := counted.lineAt(dec.InputOffset() - int64(len(raw)))
		docs := []json.RawMessage{raw}
		if raw[0] == '[' {
			// Parse would check the memory only after the list is split.
			if err := checkFootprint(name, raw); err != nil {
				return shiftLines(line, err)
			}
			if err := json.Unmarshal(raw, &docs); err != nil {
				return err
			}
		}
		for _, doc := range docs {
			results, err := Parse(name, doc)
			if err != nil {
				return shiftLines(line, err)
			}
			text, sum, err := Compact(doc)
			if err != nil {
				return err
			}
			if err := do(newDocumentInfo(results[0], sum), text); err != nil {
				return err
			}
		}
		if len(docs) == 0 {
			return &Error{File: name, Line: line, Col: 1, What: "an empty list of results"}
		}
	}
}

// shiftLines returns err with its line counted from the start of the archive. The document begins at
// line.
func shiftLines(line int, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{File: e.File, Line: line + max(e.Line-1, 0), Col: max(e.Col, 1), What: e.What, Hint: e.Hint}
}

// scanError returns an error of the decoder with a position. The document begins after offset begin.
func scanError(name string, err error, c *counter, begin int64) error {
	const hint = "tare history export writes archives, tare run --json single results"
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errLarge):
		return &Error{File: name, Line: c.lineAt(begin), Col: 1, What: fmt.Sprintf("a document that is larger than %d bytes, or has more than %d lines, begins in this line", c.maxBytes, c.maxLines), Hint: hint}
	case errors.Is(err, io.ErrUnexpectedEOF):
		line := c.lineAt(begin)
		if begin > 0 { // begin is the end of the document before, on its last line
			line++
		}
		return &Error{File: name, Line: line, Col: 1, What: "the document that begins in this line ends in the middle"}
	case errors.As(err, &syntax):
		return &Error{File: name, Line: c.lineAt(syntax.Offset - 1), Col: 1, What: "no result document: not JSON: " + format.Line(syntax.Error(), 0), Hint: hint}
	}
	return err
}

// newDocumentInfo describes a result with the hash sum.
func newDocumentInfo(r *tare.Result, sum string) DocumentInfo {
	seed := r.Seed
	if _, err := strconv.ParseUint(seed, 10, 64); err != nil { // not a safe part of a file name
		seed = sum[:8]
	}
	return DocumentInfo{Study: r.Study, SHA256: sum, started: r.Started.UTC().Format(NameTime), seed: seed}
}

// importedName is the file that marks an imported run.
const importedName = "imported"

// IsImported reports whether the run in dir was measured on another machine and imported.
func IsImported(dir string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	return isFile(filepath.Join(dir, importedName))
}

// ImportDocument writes text, the document k, into a new directory under dir, and returns that
// directory. If a write fails, it removes the directory.
func ImportDocument(dir string, k DocumentInfo, text []byte) (string, error) {
	return writeImported(atomicfile.System{}, dir, k, text)
}

// writeImported writes the mark first, so that the result is never taken for a run of this machine.
func writeImported(disk atomicfile.Disk, dir string, k DocumentInfo, text []byte) (string, error) {
	var doc bytes.Buffer
	if err := json.Indent(&doc, text, "", "  "); err != nil {
		return "", err
	}
	doc.WriteByte('\n')
	target, err := newDir(disk, dir, k.started+"-"+k.seed)
	if err != nil {
		return "", err
	}
	result, mark := filepath.Join(target, ResultName), filepath.Join(target, importedName)
	err = atomicfile.Write(disk, mark, nil, 0o600)
	if err == nil {
		err = atomicfile.Write(disk, result, doc.Bytes(), 0o600)
	}
	if err == nil {
		return target, nil
	}
	for _, path := range []string{result, mark, target} { // a result without its mark must not remain
		_ = disk.Remove(path)
	}
	return "", err
}

// NewDir creates a new directory under another and returns its path. If name exists, it tries name-2 to
// name-100. Only the owner can read it.
func NewDir(parent, name string) (string, error) { return newDir(atomicfile.System{}, parent, name) }

func newDir(disk atomicfile.Disk, parent, name string) (string, error) {
	if err := atomicfile.MakeDirOn(disk, parent, 0o700); err != nil {
		return "", err
	}
	const maxNumber = 100
	for n := 1; ; n++ {
		dir := filepath.Join(parent, name)
		if n > 1 {
			dir += fmt.Sprintf("-%d", n)
		}
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			return dir, disk.SyncDir(parent)
		}
		if !errors.Is(err, fs.ErrExist) || n == maxNumber {
			return "", err
		}
	}
}

const maxLines = 16 << 20

var errLarge = errors.New("too large")

// counter is a reader that records the offsets of line ends, in bytes. It fails if a document is too
// large.
type counter struct {
	in       io.Reader
	maxBytes int64 // largest size of the document
	maxLines int
	read     int64   // bytes read so far
	start    int64   // offset of the current document
	before   int     // number of line ends before start
	ends     []int64 // offsets of line ends after start
}

// dropBefore forgets the lines before an offset.
func (c *counter) dropBefore(offset int64) {
	n, _ := slices.BinarySearch(c.ends, offset)
	c.start, c.before, c.ends = offset, c.before+n, slices.Delete(c.ends, 0, n)
}

func (c *counter) Read(p []byte) (int, error) {
	room := c.start + c.maxBytes + 1 - c.read // the decoder reads one byte after a document
	if room <= 0 || len(c.ends) > c.maxLines {
		return 0, errLarge
	}
	n, err := c.in.Read(p[:min(int64(len(p)), room)])
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// lineAt returns the line, from 1, of the byte at offset.
func (c *counter) lineAt(offset int64) int {
	n, _ := slices.BinarySearch(c.ends, offset)
	return 1 + c.before + n
}
