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

const sniffSize = 4096 // bytes

// isArchive reports whether a file with this beginning may be an archive of tare's results.
// Otherwise it is a file of another tool.
func isArchive(head []byte) bool {
	head = bytes.TrimSpace(head)
	return (bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("["))) && !foreign.IsForeign(head)
}

// readRecorded converts a file of another tool, or compressed text, to a temporary file. Records
// without a date get the time of the file, or now for stdin.
func (s *source) readRecorded(addCleanup func(func()), now time.Time) error {
	head := make([]byte, sniffSize)
	n, err := s.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read %s: %w", s.name, cmdenv.Cause(err))
	}
	if isArchive(head[:n]) {
		return nil
	}
	if info, err := s.file.Stat(); err == nil && info.Mode().IsRegular() && s.name != "<stdin>" {
		now = info.ModTime()
	}
	text, err := textfile.Open(io.NewSectionReader(s.file, 0, math.MaxInt64))
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", s.name, cmdenv.Cause(err)), "")
	}
	src, err := io.ReadAll(io.LimitReader(text, history.MaxBytes+1))
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", s.name, cmdenv.Cause(err)), "")
	}
	if len(src) > history.MaxBytes {
		return tooLarge(s.name, history.MaxBytes, "name what tare history export wrote, or output of go test -bench")
	}
	var records foreign.Records
	isForeign := false
	if !isArchive(src[:min(len(src), sniffSize)]) {
		if records, isForeign, err = foreign.Read(s.name, src, now); err != nil {
			return cmdenv.UsageOf(err, "")
		}
	}
	if !isForeign && text.Found() == "" { // neither converted nor decompressed
		return nil // scanResults reports the error in the file
	}
	out, remove, err := machine.TempFile("recorded")
	if err != nil {
		return err
	}
	addCleanup(remove)
	s.file, s.omissions = out, records.Omitted
	if !isForeign {
		_, err := out.Write(src)
		return err
	}
	for _, r := range records.Results {
		if err := report.JSON(out, r); err != nil {
			return err
		}
	}
	return nil
}
