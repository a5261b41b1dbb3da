package cli

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
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/journal"
	"github.com/tarebench/tare/report"
)

// newRunDir makes the directory of a new run: UTC time and seed, so that names
// sort by age. Two runs never share one.
func newRunDir(results string, now time.Time, seed uint64) (string, error) {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return "", fmt.Errorf("make the directory of results: %w", err)
	}
	name := fmt.Sprintf("%s-%d", now.UTC().Format(history.NameTime), seed)
	for n := 1; ; n++ {
		dir := filepath.Join(results, name)
		if n > 1 {
			dir += fmt.Sprintf("-%d", n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) || n == 100 {
			return "", fmt.Errorf("make the run's directory: %w", err)
		}
	}
}

// unfinished lists the runs in results that can be gone on with, the newest
// first: those with a journal and without a result, and those that the user
// interrupted.
func unfinished(results string) []string {
	entries, err := os.ReadDir(results)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(results, e.Name())
		if info, err := os.Stat(filepath.Join(dir, journal.FileName)); err != nil || info.Size() == 0 {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, history.ResultName))
		if err == nil {
			var r struct {
				Stopped string `json:"stopped"`
			}
			if json.Unmarshal(src, &r) == nil && r.Stopped != lab.Interrupted {
				continue
			}
		}
		found = append(found, dir)
	}
	return found
}

// resumable reports whether what a failed run left in dir is worth keeping.
func resumable(dir string, err error) bool {
	if code(err) == ExitUsage {
		return false
	}
	_, errStat := os.Stat(filepath.Join(dir, journal.FileName))
	return errStat == nil
}

// saveResult writes the document beside the journal, all of it or nothing.
func saveResult(dir string, res *tare.Result) error {
	out, err := openOutput(filepath.Join(dir, history.ResultName))
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Save(func(f *os.File) error { return report.JSON(f, res) })
}

// document writes results as JSON: one document, or a list of them.
func document(w io.Writer, results []*tare.Result, single bool) error {
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
	return printJSON(w, list)
}

// output is a file that appears when it is whole. It is opened before the
// work, so that a path that cannot be written is known at once.
type output struct {
	file *os.File // nil: there is nothing to write
	path string   // where it goes when it is whole; empty: it is there already
}

func openOutput(path string) (*output, error) {
	if path == "" {
		return &output{}, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, Usage("cannot write "+path+": it is a directory", "name a file")
	} else if err == nil && !info.Mode().IsRegular() { // a device or a pipe: nothing to put in its place
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", path, cause(err))
		}
		return &output{file: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	return &output{f, path}, nil
}

// Save writes the file and puts it in its place.
func (o *output) Save(write func(*os.File) error) error {
	if o.file == nil {
		return nil
	}
	err := write(o.file)
	if o.path != "" && err == nil {
		err = o.file.Chmod(0o644)
	}
	if errClose := o.file.Close(); err == nil {
		err = errClose
	}
	if o.path != "" && err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", or(o.path, o.file.Name()), cause(err))
	}
	return nil
}

// Close takes away what was not saved.
func (o *output) Close() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.path != "" {
		os.Remove(o.file.Name()) // gone already where it was saved
	}
}
