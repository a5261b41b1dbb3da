package historycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

// sniffed is how much of a file tells whether it is a result of ours.
const sniffed = 4096

// ours reports whether a file that begins so may be an archive of ours.
func ours(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("[")) && !bytes.Contains(head, []byte(`"Suites"`))
}

// recorded is f, or where another tool wrote it a file of the results that were
// made of it. later is told what to undo.
func recorded(name string, f *os.File, later func(func()), now time.Time) (*os.File, error) {
	head := make([]byte, sniffed)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read %s: %w", name, cmdenv.Cause(err))
	}
	if ours(head[:n]) {
		return f, nil
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && name != "<stdin>" {
		now = info.ModTime()
	}
	src, err := io.ReadAll(io.NewSectionReader(f, 0, history.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, cmdenv.Cause(err))
	}
	if len(src) > history.MaxBytes {
		return nil, tooLarge(name, history.MaxBytes, "name what tare history export wrote, or output of go test -bench")
	}
	results, ok, err := foreign.Read(name, src, now)
	if err != nil {
		return nil, cmdenv.Usage(err.Error(), "")
	}
	if !ok {
		return f, nil
	}
	out, remove, err := machine.TempFile("recorded")
	if err != nil {
		return nil, err
	}
	later(remove)
	for _, r := range results {
		if err := report.JSON(out, r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
