package ingest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/apps/ingest/sink"
	"github.com/tarebench/tare/apps/ingest/spool"
)

type counters struct {
	batches    atomic.Int64
	records    atomic.Int64
	bytes      atomic.Int64
	sinkErrors atomic.Int64

	failing atomic.Int64              // errors since the last stored batch
	failed  atomic.Pointer[time.Time] // time of the last error; nil without one, or without a clock

	refusals [14]atomic.Int64 // same order as codes
}

func (c *counters) countReceipt(r Receipt) {
	c.batches.Add(1)
	c.records.Add(int64(r.Accepted))
	c.bytes.Add(r.Bytes)
}

// Metrics returns the counters of the service in the text format of Prometheus.
func (s *Service) Metrics() []byte {
	var b strings.Builder
	m := metricsWriter{&b}
	c := &s.counts
	m.writeFamily("ingest_batches_total", "counter", "Batches that were accepted.", c.batches.Load())
	m.writeFamily("ingest_records_total", "counter", "Records that the sink has taken.", c.records.Load())
	m.writeFamily("ingest_metadata_bytes_total", "counter", "Bytes of their metadata, encoded.", c.bytes.Load())
	m.writeHead("ingest_refusals_total", "counter", "Requests that were rejected, by error.")
	for i, code := range codes() {
		fmt.Fprintf(&b, "ingest_refusals_total{error=%q} %d\n", code, c.refusals[i].Load())
	}
	m.writeFamily("ingest_sink_errors_total", "counter", "Batches that the sink has failed to take.", c.sinkErrors.Load())
	switch opened := s.sink.(type) { // another sink has no metrics
	case *sink.File:
		m.writeFile(opened.Stats(), s.cut)
	case *spool.Spool:
		m.writeSpool(opened.Status(), s.cut)
	}
	return []byte(b.String())
}

type metricsWriter struct{ b *strings.Builder }

// writeHead writes the description of a metric; kind is counter or gauge. The caller writes the values next.
func (m metricsWriter) writeHead(name, kind, help string) {
	fmt.Fprintf(m.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (m metricsWriter) writeFamily(name, kind, help string, value int64) {
	m.writeHead(name, kind, help)
	fmt.Fprintf(m.b, "%s %d\n", name, value)
}

// writeFile writes the metrics of a file sink. cut is the number of bytes that were removed from the file when
// it was opened.
func (m metricsWriter) writeFile(stats sink.Stats, cut int64) {
	m.writeFamily("ingest_sink_writes_total", "counter", "Writes to the file, of one batch or more.", stats.Writes)
	m.writeFamily("ingest_sink_syncs_total", "counter", "Syncs of the file.", stats.Syncs)
	m.writeFamily("ingest_sink_rotations_total", "counter", "Files that were put away because they were full.", stats.Rotations)
	m.writeFamily("ingest_sink_failures_total", "counter", "Writes, syncs and rotations that failed.", stats.Failures)
	m.writeFamily("ingest_sink_cut_bytes", "gauge", "Bytes of an unfinished last line that were cut off when the sink was opened.", cut)
}

// writeSpool writes the metrics of a spool. torn is the number of bytes of an unfinished write that were found
// when it was opened.
func (m metricsWriter) writeSpool(status spool.Status, torn int64) {
	m.writeFamily("ingest_spool_writes_total", "counter", "Writes to the spool, of one batch or more.", status.Writes)
	m.writeFamily("ingest_spool_failures_total", "counter", "Writes and syncs of the spool that failed.", status.Failures)
	m.writeFamily("ingest_spool_full_total", "counter", "Batches that were rejected because the spool was full.", status.Full)
	m.writeFamily("ingest_spool_bytes", "gauge", "Bytes of the spool on disk.", status.Bytes)
	m.writeFamily("ingest_spool_limit_bytes", "gauge", "Bytes that it may have.", status.Bound)
	m.writeHead("ingest_spool_lag_seconds", "gauge", "Age of the oldest event that is not sent on to all sinks.")
	fmt.Fprintf(m.b, "ingest_spool_lag_seconds %.3f\n", status.Age.Seconds())
	m.writeFamily("ingest_spool_torn_bytes", "gauge", "Bytes of an unfinished write that were found when the spool was opened.", torn)
	perSink := func(name, kind, help string, value func(spool.Cursor) uint64) {
		m.writeHead(name, kind, help)
		for _, c := range status.Cursors {
			fmt.Fprintf(m.b, "%s{sink=%q} %d\n", name, c.Name, value(c))
		}
	}
	perSink("ingest_sent_total", "counter", "Events that the far side has taken.", func(c spool.Cursor) uint64 { return c.Sent })
	perSink("ingest_send_failures_total", "counter", "Attempts to send a batch that failed.", func(c spool.Cursor) uint64 { return c.Failures })
	perSink("ingest_send_held", "gauge", "1 while the far side takes nothing: it never has, or it rejects all events of a batch.", func(c spool.Cursor) uint64 {
		if c.Held {
			return 1
		}
		return 0
	})
	perSink("ingest_dead_total", "counter", "Events that the far side rejected for good; they are in the file of dead letters.", func(c spool.Cursor) uint64 { return c.Dead })
	perSink("ingest_lost_total", "counter", "Acknowledged events that the disk has lost.", func(c spool.Cursor) uint64 { return c.Lost })
	perSink("ingest_unsent", "gauge", "Events that are to be sent on.", func(c spool.Cursor) uint64 { return status.Next - min(status.Next, c.Position) })
}
