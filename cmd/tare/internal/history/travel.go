package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tarebench/tare"
)

// Kept is a result document that an archive holds or an index knows.
type Kept struct {
	Study  string `json:"study"`
	SHA256 string `json:"sha256"` // of the document without insignificant space
	Path   string `json:"path"`   // of its directory

	seed string
	at   string // start time as directories are named by
}

// Export writes the results of studies, of all where none is named, one
// document a line, the oldest first. The same results give the same bytes,
// wherever they are kept; one that is there twice is written once. Documents
// that cannot be read are left out and named in left.
func (x *Index) Export(ctx context.Context, w io.Writer, studies []string) (kept []Kept, left []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, study, sha256, error FROM document ORDER BY started_ns, study, sha256, path")
	if err != nil {
		return nil, nil, unusable(err)
	}
	defer rows.Close()
	wanted := map[string]bool{}
	for _, s := range studies {
		wanted[s] = true
	}
	seen := map[string]bool{}
	out := bufio.NewWriter(w)
	for rows.Next() {
		var k Kept
		var why string
		if err := rows.Scan(&k.Path, &k.Study, &k.SHA256, &why); err != nil {
			return nil, nil, unusable(err)
		}
		if len(wanted) > 0 && !wanted[k.Study] || why == "" && seen[k.SHA256] {
			continue
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		k.Path = filepath.Join(x.results, filepath.FromSlash(k.Path))
		src, err := os.ReadFile(filepath.Join(k.Path, ResultName))
		if err != nil {
			return nil, nil, err
		}
		text, sum, err := compact(src)
		if err != nil || sum != k.SHA256 {
			return nil, nil, fmt.Errorf("%s changed while it was being read; export again", filepath.Join(k.Path, ResultName))
		}
		seen[sum] = true
		kept = append(kept, k)
		if _, err := out.Write(append(text, '\n')); err != nil {
			return nil, nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, unusable(err)
	}
	return kept, left, out.Flush()
}

// Scan reads the documents in an archive: one after the other or a line each,
// or lists of them. do is called for each that is a result of ours, with its
// text without insignificant space. The error for any other is an [*Error]
// with the place in the file.
func Scan(name string, in io.Reader, do func(k Kept, text []byte) error) error {
	counted := &counter{in: in}
	dec := json.NewDecoder(counted)
	for {
		var raw json.RawMessage
		begin := dec.InputOffset()
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil // also where nothing was exported
		}
		if err != nil {
			return scanError(name, err, counted, begin)
		}
		line := counted.line(dec.InputOffset() - int64(len(raw)))
		docs := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &docs); err != nil {
				return err
			}
		}
		if int64(len(raw)) > MaxBytes {
			return &Error{File: name, Line: line, Col: 1, What: fmt.Sprintf("larger than %d MiB", MaxBytes>>20)}
		}
		for _, doc := range docs {
			results, err := Parse(name, doc)
			if err != nil {
				var e *Error
				if errors.As(err, &e) { // its place is in doc
					*e = Error{File: name, Line: line + max(e.Line-1, 0), Col: max(e.Col, 1), What: e.What, Hint: e.Hint}
				}
				return err
			}
			text, sum, err := compact(doc)
			if err != nil {
				return err
			}
			if err := do(keep(results[0], sum), text); err != nil {
				return err
			}
		}
		if len(docs) == 0 {
			return &Error{File: name, Line: line, Col: 1, What: "an empty list of results"}
		}
	}
}

// scanError is the error of a document that begins behind offset begin.
func scanError(name string, err error, c *counter, begin int64) error {
	const hint = "tare history export writes archives, tare run --json single results"
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		line := c.line(begin)
		if begin > 0 { // the one before ends there
			line++
		}
		return &Error{File: name, Line: line, Col: 1, What: "the document that begins here ends in the middle"}
	case errors.As(err, &syntax):
		return &Error{File: name, Line: c.line(syntax.Offset - 1), Col: 1, What: "no result document: not JSON: " + oneLine(syntax.Error()), Hint: hint}
	}
	return err
}

func keep(r *tare.Result, sum string) Kept {
	seed := r.Seed
	if _, err := strconv.ParseUint(seed, 10, 64); err != nil { // from somewhere else: it becomes part of a name
		seed = sum[:8]
	}
	return Kept{Study: r.Study, SHA256: sum, seed: seed, at: r.Started.UTC().Format(NameTime)}
}

// Has reports where a document with that sum is kept; empty where it is not.
func (x *Index) Has(ctx context.Context, sum string) (path string, err error) {
	list, err := x.texts(ctx, "SELECT path FROM document WHERE sha256 = ? AND error = '' ORDER BY path LIMIT 1", sum)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return filepath.Join(x.results, filepath.FromSlash(list[0])), nil
}

// Keep writes a document into a directory of its own under dir, which is its
// study's, and returns that. It appears whole or not at all.
func Keep(dir string, k Kept, text []byte) (string, error) {
	var doc bytes.Buffer
	if err := json.Indent(&doc, text, "", "  "); err != nil {
		return "", err
	}
	doc.WriteByte('\n')
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dir, ".importing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(tmp, ResultName), doc.Bytes(), 0o644); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s", k.at, k.seed)
	for n := 1; ; n++ {
		to := filepath.Join(dir, name)
		if n > 1 {
			to += fmt.Sprintf("-%d", n)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(tmp, to); err == nil {
			return to, nil
		} else if n == 100 {
			return "", err
		}
	}
}

// counter counts lines by offset of what is read through it.
type counter struct {
	in   io.Reader
	read int64
	ends []int64 // offsets of line ends
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

// line is the line, from 1, of the byte at offset.
func (c *counter) line(offset int64) int {
	line := 1
	for _, end := range c.ends {
		if end < offset {
			line++
		}
	}
	return line
}
