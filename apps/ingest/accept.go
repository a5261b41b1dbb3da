package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare/apps/ingest/sink"
	"github.com/tarebench/tare/apps/ingest/spool"
)

// Batch is a decoded body: [Decoded], the result of [Records], or a type of the HTTP stack.
type Batch interface {
	// Len returns the number of records.
	Len() int
	// Head returns the id and the timestamp of record i: "" and zero if missing.
	Head(i int) (id string, timestamp time.Time)
	// Metadata returns the metadata of record i as JSON in one line. The next call may overwrite the result.
	Metadata(i int) ([]byte, error)
}

// Records returns a batch of decoded records. marshal encodes a *Metadata as JSON.
func Records(list []Record, marshal func(any) ([]byte, error)) Batch {
	return &records{list: list, marshal: marshal}
}

type records struct {
	list    []Record
	marshal func(any) ([]byte, error)
}

func (r *records) Len() int                       { return len(r.list) }
func (r *records) Head(i int) (string, time.Time) { return r.list[i].ID, r.list[i].Timestamp.Time }
func (r *records) Metadata(i int) ([]byte, error) { return r.marshal(&r.list[i].Metadata) }

// Accept passes a batch to the sink, the destination of events such as a file. It returns when all of it is
// stored. h is the head of the request. If ctx ends before the write, nothing is stored.
//
// After an error the batch is not acknowledged; see [sink.Sink]. The code unsent is an exception. A spool
// (files in which events wait) has stored the batch, but not sent it within Config.Wait.
func (s *Service) Accept(ctx context.Context, h Head, b Batch) (Receipt, error) {
	if err := s.checkBatch(b); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Accepted: b.Len()}
	if s.sink == nil { // encode metadata only to count its bytes
		for i := range r.Accepted {
			metadata, err := b.Metadata(i)
			if err != nil {
				return Receipt{}, encodeError(i, err)
			}
			r.Bytes += int64(len(metadata))
		}
		if err := ctx.Err(); err != nil {
			return Receipt{}, sinkError(err)
		}
	} else if err := s.storeBatch(ctx, s.storedTrace(h), b, &r); err != nil {
		return Receipt{}, err
	}
	s.counts.countReceipt(r)
	return r, nil
}

// maxID limits a record's id, in bytes. Destinations store it as a key or send it in a header.
const maxID = 1 << 10

func (s *Service) checkBatch(b Batch) error {
	n := b.Len()
	switch {
	case n == 0:
		return newRefusal(nil, badRequest, "batch", "a batch has one record at least")
	case n > s.limit:
		return newRefusal(nil, badRequest, "batch", fmt.Sprintf("a batch has at most %d records, this one has %d", s.limit, n))
	}
	for i := range n {
		id, timestamp := b.Head(i)
		switch {
		case id == "":
			return newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no id", i+1, n))
		case len(id) > maxID:
			return newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has an id of %d bytes; it has at most %d", i+1, n, len(id), maxID))
		case timestamp.IsZero():
			return newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no timestamp", i+1, n))
		case !hasRFC3339(timestamp):
			return newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has a timestamp outside the years 0 to 9999; a number is in seconds", i+1, n))
		}
	}
	return nil
}

func hasRFC3339(t time.Time) bool {
	const (
		first = -62167219200 // 0000-01-01T00:00:00Z, in seconds
		last  = 253402300799 // 9999-12-31T23:59:59Z
	)
	s := t.Unix()
	return s >= first && s <= last
}

// storeBatch passes the records as lines to the sink, and adds the bytes of their metadata to r. trace is
// stored with each record; "" means none.
func (s *Service) storeBatch(ctx context.Context, trace string, b Batch, r *Receipt) error {
	const maxReused = 1 << 20 // bytes of a reused buffer
	lines, _ := s.lines.Get().(*[]byte)
	if lines == nil {
		lines = new([]byte)
	}
	defer func() {
		if cap(*lines) <= maxReused {
			s.lines.Put(lines)
		}
	}()
	var err error
	if *lines, err = appendLines((*lines)[:0], trace, b, r); err != nil {
		return err
	}
	err = s.sink.Keep(ctx, *lines, r.Accepted)
	switch {
	case err == nil:
		s.logRecovery()
		return nil
	case errors.Is(err, sink.ErrTooLarge):
		return newRefusal(err, tooLarge, "too_large", "the batch is larger than the sink takes, once its records are written out")
	case errors.Is(err, spool.ErrWait):
		s.logRecovery()
		s.counts.countReceipt(*r)
		return unsentError(err)
	}
	isCancelled := ctx.Err() != nil && errors.Is(err, ctx.Err())
	if !isCancelled {
		s.countFailure(err)
	}
	return sinkError(err)
}

// countFailure counts an error of the sink. It logs the first one since the last stored batch.
func (s *Service) countFailure(err error) {
	s.counts.sinkErrors.Add(1)
	if s.now != nil {
		now := s.now()
		s.counts.failed.Store(&now)
	}
	if s.counts.failing.Add(1) == 1 {
		s.log.Error("the sink fails, and batches are answered with 503", "cause", err)
	}
}

func (s *Service) logRecovery() {
	if s.counts.failing.Load() > 0 { // usually false, and cheaper than Swap
		if n := s.counts.failing.Swap(0); n > 0 {
			s.log.Info("the sink works again", "failures", n)
		}
	}
}

// appendLines appends each record of b to lines, and adds the bytes of the metadata to r. It returns lines also
// with an error, perhaps a [Refusal].
func appendLines(lines []byte, trace string, b Batch, r *Receipt) ([]byte, error) {
	for i := range r.Accepted {
		metadata, err := b.Metadata(i)
		if err != nil {
			return lines, encodeError(i, err)
		}
		if bytes.IndexByte(metadata, '\n') >= 0 {
			return lines, errors.New("an encoder wrote a line end into metadata")
		}
		id, timestamp := b.Head(i)
		lines = appendLine(lines, id, timestamp, trace, metadata)
		r.Bytes += int64(len(metadata))
	}
	return lines, nil
}

func sinkError(cause error) error {
	return newRefusal(cause, unavailable, "sink", "the batch could not be kept; send it again later")
}

// unsentError returns the error of a stored batch that the spool has not sent yet. Clients must not retry,
// which would duplicate it.
func unsentError(cause error) error {
	return newRefusal(cause, accepted, "unsent", "the batch is kept, and will be sent on; sending it again duplicates it")
}

// encodeError returns the error of record i, whose metadata could not be encoded. If cause wraps a [Refusal],
// encodeError returns cause itself.
func encodeError(i int, cause error) error {
	var r *Refusal
	if errors.As(cause, &r) {
		return cause
	}
	return newRefusal(cause, badRequest, "record", fmt.Sprintf("the metadata of record %d cannot be written as JSON", i+1))
}

// appendLine appends a record as one line of JSON. If trace is "", the line has no traceparent:
//
//	{"id":"7","timestamp":"2026-01-02T03:04:05Z","traceparent":"00-…-01","metadata":{…}}
func appendLine(b []byte, id string, timestamp time.Time, trace string, metadata []byte) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, id)
	b = append(b, `,"timestamp":"`...)
	if withTime, err := timestamp.AppendText(b); err == nil {
		b = withTime
	} else { // RFC 3339 cannot represent the offset
		b = timestamp.UTC().AppendFormat(b, time.RFC3339Nano)
	}
	if trace != "" {
		b = append(b, `","traceparent":"`...)
		b = append(b, trace...)
	}
	b = append(b, `","metadata":`...)
	b = append(b, metadata...)
	return append(b, "}\n"...)
}

// appendString appends s as a JSON string. It avoids json.Marshal for most ids, which need no escapes.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		isPrintable := ' ' <= c && c <= '~' // ASCII
		if !isPrintable || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // marshaling a string cannot fail
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
