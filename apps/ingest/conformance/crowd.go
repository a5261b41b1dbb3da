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
	manyRecords  = 349_001 // empty records in a body; with commas almost 1 MiB
	manyRequests = 30
	maxMemory    = 256 << 20 // bytes; the server must stay below
)

// checkManyRecords sends bodies of 1 kB in gzip with many empty records. A server must reject them and use no
// more memory than for valid ones. One that decodes them first needs 100 MB or more for each.
func checkManyRecords(e conformance.Env) error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	w, _ := gzip.NewWriterLevel(&body, gzip.BestCompression) // the level is valid, so no error
	_, _ = w.Write([]byte("[" + strings.Repeat("{},", manyRecords-1) + "{}]"))
	if err := w.Close(); err != nil {
		return err
	}
	request := postBody(body.String())
	request.Header = append(request.Header, [2]string{"Content-Encoding", "gzip"})
	wrong := make([]error, manyRequests)
	var all sync.WaitGroup
	for i := range wrong {
		all.Go(func() {
			got, err := e.SendOnce(addr, request)
			switch {
			case err != nil:
				wrong[i] = err
			case e.WrongOnPurpose || e.IsStatusOnly():
				// Any response is accepted.
			case got.Status != 400:
				wrong[i] = fmt.Errorf("status %d, want 400: %.100q", got.Status, got.Body)
			default:
				wrong[i] = conformance.CheckErrorBody(got, "batch")
			}
		})
	}
	all.Wait()
	peak, ok := peakMemory(e.Process.PID())
	attempt := fmt.Sprintf("%d requests of %d bytes, %d empty records in gzip each", manyRequests, body.Len(), manyRecords)
	if i := slices.IndexFunc(wrong, func(err error) bool { return err != nil }); i >= 0 {
		err = fmt.Errorf("%s: %w", attempt, wrong[i])
	}
	if !ok {
		return err // the peak is unknown on this system
	}
	e.Note("%s: %4d MiB at most", attempt, peak>>20)
	if peak >= maxMemory {
		err = errors.Join(err, fmt.Errorf("%s: %d MiB at most, want less than %d", attempt, peak>>20, maxMemory>>20))
	}
	return err
}

// peakMemory returns the peak of resident memory in bytes. It works on Linux.
func peakMemory(pid int) (bytes int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kib << 10, err == nil
}
