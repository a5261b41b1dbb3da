package historycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	return (bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("["))) && !foreign.IsForeign(head)
}

// readRecorded replaces the file of a by one in UTF-8 with results of ours, if another tool
// wrote it or it is in UTF-16. later is told what to undo.
func (a *source) readRecorded(later func(func()), now time.Time) error {
	head := make([]byte, sniffed)
	n, err := a.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read %s: %w", a.name, cmdenv.Cause(err))
	}
	if ours(head[:n]) {
		return nil
	}
	if info, err := a.file.Stat(); err == nil && info.Mode().IsRegular() && a.name != "<stdin>" {
		now = info.ModTime()
	}
	raw, err := io.ReadAll(io.NewSectionReader(a.file, 0, history.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", a.name, cmdenv.Cause(err))
	}
	if len(raw) > history.MaxBytes {
		return tooLarge(a.name, history.MaxBytes, "name what tare history export wrote, or output of go test -bench")
	}
	src := foreign.Decode(raw)
	var read foreign.Records
	isForeign := false
	if !ours(src[:min(len(src), sniffed)]) {
		if read, isForeign, err = foreign.Read(a.name, src, now); err != nil {
			return cmdenv.Usage(err.Error(), "")
		}
	}
	if !isForeign && bytes.Equal(src, raw) {
		return nil // what is wrong with it is said when it is read
	}
	out, remove, err := machine.TempFile("recorded")
	if err != nil {
		return err
	}
	later(remove)
	a.file, a.left = out, read.Left
	if !isForeign {
		_, err := out.Write(src)
		return err
	}
	for _, r := range read.Results {
		if err := report.JSON(out, r); err != nil {
			return err
		}
	}
	return nil
}
