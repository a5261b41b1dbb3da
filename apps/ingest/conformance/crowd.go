package conformance

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tarebench/tare/internal/conformance"
)

const (
	crowdRecords  = 349_001 // empty ones, the maximum of a body
	crowdRequests = 30
	crowdMemory   = 256 << 20
)

// checkCrowd checks that bodies of 1 kB in gzip that are arrays of very many empty records, many
// concurrently, are rejected and take no more memory than allowed bodies. A server that decodes
// them first takes 100 MB and more for each.
func checkCrowd(e conformance.Exam) error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	z, _ := gzip.NewWriterLevel(&body, gzip.BestCompression) // which is a level
	_, _ = z.Write([]byte("[" + strings.Repeat("{},", crowdRecords-1) + "{}]"))
	if err := z.Close(); err != nil {
		return err
	}
	q := conformance.Request{Method: "POST", Path: "/", Header: append(conformance.JSONType(""), [2]string{"Content-Encoding", "gzip"}), Body: body.Bytes()}
	wrong := make([]error, crowdRequests)
	var all sync.WaitGroup
	for i := range wrong {
		all.Go(func() {
			got, err := e.AskOnce(addr, q)
			switch {
			case err != nil:
				wrong[i] = err
			case e.Trap || e.Loose():
			case got.Status != 400:
				wrong[i] = fmt.Errorf("status %d, want 400: %.100q", got.Status, got.Body)
			default:
				wrong[i] = conformance.Refusal(got, "batch")
			}
		})
	}
	all.Wait()
	peak, ok := peakMemory(e.Process.PID())
	what := fmt.Sprintf("%d requests of %d bytes, %d empty records in gzip each", crowdRequests, body.Len(), crowdRecords)
	if i := slices.IndexFunc(wrong, func(err error) bool { return err != nil }); i >= 0 {
		err = fmt.Errorf("%s: %w", what, wrong[i])
	}
	if !ok {
		return err // the peak is unknown on this system
	}
	e.Note("%s: %4d MiB at most", what, peak>>20)
	if peak >= crowdMemory {
		err = errors.Join(err, fmt.Errorf("%s: %d MiB at most, want less than %d", what, peak>>20, crowdMemory>>20))
	}
	return err
}

// peakMemory returns the most resident memory that a process has had, in bytes.
func peakMemory(pid int) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	kb, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kb << 10, err == nil
}
