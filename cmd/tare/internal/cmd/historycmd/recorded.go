package historycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
	"github.com/tarebench/tare/report"
)

// sniffed is how much of a file tells whether it is a result of ours.
const sniffed = 4096

// recorded is f, or where another tool wrote it a file of the results that were
// made of it, which may have most bytes. later is told what to undo.
func recorded(name string, f *os.File, most int64, later func(func()), now time.Time) (*os.File, error) {
	head := make([]byte, sniffed)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read %s: %w", name, cmdenv.Cause(err))
	}
	if head = bytes.TrimSpace(head[:n]); bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("[")) && !bytes.Contains(head, []byte(`"Suites"`)) {
		return f, nil
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && name != "<stdin>" {
		now = info.ModTime()
	}
	src, err := cmdenv.ReadAtMost(io.NewSectionReader(f, 0, 1<<62), most)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, cmdenv.Cause(err))
	}
	results, ok, err := foreign.Read(name, src, now)
	if err != nil {
		return nil, cmdenv.Usage(err.Error(), "")
	}
	if !ok {
		return f, nil
	}
	out, err := os.CreateTemp("", "tare-recorded-")
	if err != nil {
		return nil, err
	}
	later(func() { out.Close(); os.Remove(out.Name()) })
	for _, r := range results {
		if err := report.JSON(out, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
