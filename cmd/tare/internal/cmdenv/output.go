package cmdenv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// PrintJSON writes v as an indented document.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteDocument writes results as JSON: one document, or a list of them.
func WriteDocument(w io.Writer, results []*tare.Result, single bool) error {
	if single {
		return report.JSON(w, results[0])
	}
	list := make([]json.RawMessage, len(results))
	for i, r := range results {
		var buf bytes.Buffer
		if err := report.JSON(&buf, r); err != nil {
			return err
		}
		list[i] = buf.Bytes()
	}
	return PrintJSON(w, list)
}

// Output is a file that appears when it is whole. It is opened before the
// work, so that a path that cannot be written is known at once.
type Output struct {
	file *os.File // nil: there is nothing to write
	path string   // where it goes when it is whole; empty: it is there already
}

// OpenOutput opens the file at path; with an empty path nothing is written.
func OpenOutput(path string) (*Output, error) {
	if path == "" {
		return &Output{}, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, Usage("cannot write "+path+": it is a directory", "name a file")
	} else if err == nil && !info.Mode().IsRegular() { // a device or a pipe: nothing to put in its place
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", path, Cause(err))
		}
		return &Output{file: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, Cause(err))
	}
	return &Output{f, path}, nil
}

// Save writes the file and puts it in its place.
func (o *Output) Save(write func(*os.File) error) error {
	if o.file == nil {
		return nil
	}
	err := write(o.file)
	if o.path != "" && err == nil {
		if err = o.file.Chmod(0o644); err == nil {
			err = o.file.Sync() // or the name is on the disk before what it names
		}
	}
	if errClose := o.file.Close(); err == nil {
		err = errClose
	}
	if o.path != "" && err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", cmp.Or(o.path, o.file.Name()), Cause(err))
	}
	return nil
}

// Close takes away what was not saved.
func (o *Output) Close() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.path != "" {
		os.Remove(o.file.Name()) // gone already where it was saved
	}
}
