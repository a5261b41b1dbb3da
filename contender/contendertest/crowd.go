package contendertest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	crowdRecords  = 349_001 // empty ones, as many as a body may hold
	crowdRequests = 30
	crowdMemory   = 256 << 20
)

// checkCrowd: bodies of 1 kB in gzip that are arrays of very many empty records,
// many at once, are refused and take no more memory than the bodies that there
// may be. What decodes them first takes 100 MB and more for each.
func (e exam) checkCrowd() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	z, _ := gzip.NewWriterLevel(&body, gzip.BestCompression) // which is a level
	_, _ = z.Write([]byte("[" + strings.Repeat("{},", crowdRecords-1) + "{}]"))
	if err := z.Close(); err != nil {
		return err
	}
	q := asked{method: "POST", path: "/", header: append(jsonType(""), [2]string{"Content-Encoding", "gzip"}), body: body.Bytes()}
	wrong := make([]error, crowdRequests)
	var all sync.WaitGroup
	for i := range wrong {
		all.Go(func() {
			got, err := e.askOnce(addr, q)
			switch {
			case err != nil:
				wrong[i] = fmt.Errorf("%v: %w", q, err)
			case e.Trap || e.loose():
			case got.status != 400:
				wrong[i] = fmt.Errorf("%d records: status %d, want 400: %.100q", crowdRecords, got.status, got.body)
			default:
				wrong[i] = refusal(got, "batch")
			}
		})
	}
	all.Wait()
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	peak, ok := peakMemory(e.p.cmd.Process.Pid)
	if !ok {
		return nil // it is not told here
	}
	e.note("%d requests of %d empty records: %3d MiB at most", crowdRequests, crowdRecords, peak>>20)
	if peak >= crowdMemory {
		return fmt.Errorf("%d requests of %d bytes, each %d empty records in gzip, took %d MiB, want less than %d", crowdRequests, body.Len(), crowdRecords, peak>>20, crowdMemory>>20)
	}
	return nil
}

// peakMemory is the most resident memory that a process has had, in bytes.
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
