package historycmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/foreign"
	"github.com/tarebench/tare/cmd/tare/internal/textfile"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

// sniffSize is the number of bytes by which isArchive recognises a file.
const sniffSize = 4096

// isArchive reports whether a file with this beginning may be an archive of tare's results.
func isArchive(head []byte) bool {
	head = bytes.TrimSpace(head)
	return (bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("["))) && !foreign.IsForeign(head)
}

// readRecorded replaces the file of a by one in UTF-8 with results of tare, if another tool
// wrote it, or if it is compressed or in UTF-16. later receives the cleanup.
func (a *source) readRecorded(later func(func()), now time.Time) error {
	head := make([]byte, sniffSize)
	n, err := a.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read %s: %w", a.name, cmdenv.Cause(err))
	}
	if isArchive(head[:n]) {
		return nil
	}
	if info, err := a.file.Stat(); err == nil && info.Mode().IsRegular() && a.name != "<stdin>" {
		now = info.ModTime()
	}
	text, err := textfile.Open(io.NewSectionReader(a.file, 0, math.MaxInt64))
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", a.name, cmdenv.Cause(err)), "")
	}
	src, err := io.ReadAll(io.LimitReader(text, history.MaxBytes+1))
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", a.name, cmdenv.Cause(err)), "")
	}
	if len(src) > history.MaxBytes {
		return tooLarge(a.name, history.MaxBytes, "name what tare history export wrote, or output of go test -bench")
	}
	var read foreign.Records
	isForeign := false
	if !isArchive(src[:min(len(src), sniffSize)]) {
		if read, isForeign, err = foreign.Read(a.name, src, now); err != nil {
			return cmdenv.UsageOf(err, "")
		}
	}
	if !isForeign && text.Found() == "" {
		return nil // errors are reported when it is read
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
