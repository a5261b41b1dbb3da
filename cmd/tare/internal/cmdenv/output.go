package cmdenv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// This file prints JSON, and writes output files so that an incomplete file never appears.

// PrintJSON writes v as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// LegibleLines returns lines with printable characters only. For JSON, it returns an empty list instead
// of nil.
func LegibleLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = format.Line(line, 0)
	}
	return out
}

// WriteDocument writes results as JSON. If single is set, it writes the only result instead of a list.
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

// Output is a file that is written atomically. It is opened before a long measurement, so that an error
// of the path shows early. The zero value writes nothing.
type Output struct {
	path   string
	mode   fs.FileMode      // mode of the finished file
	file   *atomicfile.File // nil for a device, and for the zero value
	device *os.File         // a device or a pipe, which is written directly
}

// OpenOutput opens the file at path. If path is "" the Output writes nothing.
func OpenOutput(path string) (*Output, error) { return OpenOutputOn(atomicfile.System{}, path, 0o644) }

// OpenOutputOn is OpenOutput on a disk, with the mode of the finished file.
func OpenOutputOn(disk atomicfile.Disk, path string, mode fs.FileMode) (*Output, error) {
	if path == "" {
		return &Output{}, nil
	}
	o := &Output{path: path, mode: mode}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, Usage("cannot write "+path+": it is a directory", "name a file")
	case err == nil && !info.Mode().IsRegular():
		o.device, err = os.OpenFile(path, os.O_WRONLY, 0)
	default:
		o.file, err = atomicfile.Create(disk, path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, Cause(err))
	}
	return o, nil
}

// SaveFile writes the file at path atomically. It writes nothing if path is "".
func SaveFile(disk atomicfile.Disk, path string, mode fs.FileMode, write func(io.Writer) error) error {
	out, err := OpenOutputOn(disk, path, mode)
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Save(write)
}

// Save writes a temporary file and moves it to the path. A device is written directly.
func (o *Output) Save(write func(io.Writer) error) error {
	var err error
	switch {
	case o.device != nil:
		err = write(o.device)
		if errClose := o.device.Close(); err == nil {
			err = errClose
		}
	case o.file != nil:
		if err = write(o.file); err == nil {
			err = o.file.Keep(o.mode)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", o.path, Cause(err))
	}
	return nil
}

// Close removes the temporary file unless it was saved.
func (o *Output) Close() {
	if o.device != nil {
		o.device.Close()
	}
	if o.file != nil {
		o.file.Discard()
	}
}
