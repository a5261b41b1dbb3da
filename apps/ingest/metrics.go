package ingest

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/tarebench/tare/apps/ingest/sink"
)

// counters are what the metrics show.
type counters struct {
	batches, records, bytes atomic.Int64
	sinkErrors              atomic.Int64
	refusals                [13]atomic.Int64 // as codes
}

func (c *counters) took(r Receipt) {
	c.batches.Add(1)
	c.records.Add(int64(r.Accepted))
	c.bytes.Add(r.Bytes)
}

// Metrics are the service's counters, as text that Prometheus reads.
func (s *Service) Metrics() []byte {
	var b strings.Builder
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	family := func(name, kind, help string, value int64) {
		head(name, kind, help)
		fmt.Fprintf(&b, "%s %d\n", name, value)
	}
	c := &s.counts
	family("ingest_batches_total", "counter", "Batches that were accepted.", c.batches.Load())
	family("ingest_records_total", "counter", "Records that the sink has taken.", c.records.Load())
	family("ingest_metadata_bytes_total", "counter", "Bytes of their metadata, encoded.", c.bytes.Load())
	head("ingest_refusals_total", "counter", "Requests that were refused, by error.")
	for i, code := range codes() {
		fmt.Fprintf(&b, "ingest_refusals_total{error=%q} %d\n", code, c.refusals[i].Load())
	}
	family("ingest_sink_errors_total", "counter", "Batches that the sink has failed to take.", c.sinkErrors.Load())
	f, ok := s.sink.(*sink.File)
	if !ok {
		return []byte(b.String())
	}
	done := f.Stats()
	family("ingest_sink_writes_total", "counter", "Writes to the file, of one batch or more.", done.Writes)
	family("ingest_sink_syncs_total", "counter", "Syncs of the file.", done.Syncs)
	family("ingest_sink_rotations_total", "counter", "Files that were put away because they were full.", done.Rotations)
	family("ingest_sink_failures_total", "counter", "Writes, syncs and rotations that failed.", done.Failures)
	family("ingest_sink_cut_bytes", "gauge", "Bytes of an unfinished last line that were cut off when the sink was opened.", s.cut)
	return []byte(b.String())
}
