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

// Batch is what a stack decoded.
type Batch interface {
	Len() int
	Head(i int) (id string, at time.Time) // empty, zero: the record has none
	// Metadata is encoded as JSON without line ends. It may be overwritten by
	// the next call.
	Metadata(i int) ([]byte, error)
}

// Records is a batch of records, with marshal to encode their metadata, which
// it is given a pointer to.
func Records(list []Record, marshal func(any) ([]byte, error)) Batch {
	return &records{list, marshal}
}

type records struct {
	list    []Record
	marshal func(any) ([]byte, error)
}

func (r *records) Len() int                       { return len(r.list) }
func (r *records) Head(i int) (string, time.Time) { return r.list[i].ID, r.list[i].Timestamp.Time }
func (r *records) Metadata(i int) ([]byte, error) { return r.marshal(&r.list[i].Metadata) }

// Accept checks a batch, encodes its metadata and hands it to the sink. It
// returns when the sink has taken all of it, or nothing; after the refusal unsent
// it has taken all of it as well. Where ctx ends before the sink has begun, nothing
// is kept. h is the head of the request.
func (s *Service) Accept(ctx context.Context, h Head, b Batch) (Receipt, error) {
	if err := s.check(b); err != nil {
		return Receipt{}, err
	}
	r := Receipt{Accepted: b.Len()}
	if s.sink == nil {
		for i := range r.Accepted {
			metadata, err := b.Metadata(i)
			if err != nil {
				return Receipt{}, unencodable(i, err)
			}
			r.Bytes += int64(len(metadata))
		}
		if err := ctx.Err(); err != nil {
			return Receipt{}, untaken(err)
		}
	} else if err := s.keep(ctx, s.trace(h), b, &r); err != nil {
		return Receipt{}, err
	}
	s.counts.took(r)
	return r, nil
}

// mostID is how many bytes the id of a record has at most. Destinations keep it as a
// key, or send it as a header, which they bound.
const mostID = 1 << 10

// check looks at all records before anything is encoded.
func (s *Service) check(b Batch) error {
	n := b.Len()
	switch {
	case n == 0:
		return because(nil, badRequest, "batch", "a batch has one record at least")
	case n > s.limit:
		return because(nil, badRequest, "batch", fmt.Sprintf("a batch has at most %d records, this one has %d", s.limit, n))
	}
	for i := range n {
		id, at := b.Head(i)
		switch {
		case id == "":
			return because(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no id", i+1, n))
		case len(id) > mostID:
			return because(nil, badRequest, "record", fmt.Sprintf("record %d of %d has an id of %d bytes; it has at most %d", i+1, n, len(id), mostID))
		case at.IsZero():
			return because(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no timestamp", i+1, n))
		case !writable(at):
			return because(nil, badRequest, "record", fmt.Sprintf("record %d of %d has a timestamp outside the years 0 to 9999; a number is in seconds", i+1, n))
		}
	}
	return nil
}

// writable reports whether RFC 3339 has a notation for at in UTC.
func writable(at time.Time) bool {
	const (
		first = -62167219200 // 0000-01-01T00:00:00Z, in seconds
		last  = 253402300799 // 9999-12-31T23:59:59Z
	)
	s := at.Unix()
	return s >= first && s <= last
}

// keep hands a batch of a trace to the sink as lines, and adds up its metadata.
func (s *Service) keep(ctx context.Context, trace string, b Batch, r *Receipt) error {
	const most = 1 << 20 // bytes of a buffer that is worth keeping
	buf, _ := s.lines.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer func() {
		if cap(*buf) <= most {
			s.lines.Put(buf)
		}
	}()
	var err error
	if *buf, err = appendLines((*buf)[:0], trace, b, r); err != nil {
		return err
	}
	err = s.sink.Keep(ctx, *buf, r.Accepted)
	switch {
	case err == nil:
		s.works()
		return nil
	case errors.Is(err, sink.ErrTooLarge):
		return because(err, tooLarge, "too_large", "the batch is larger than the sink takes, once its records are written out")
	case errors.Is(err, spool.ErrWait):
		s.works()
		s.counts.took(*r)
		return unsent(err)
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()):
		s.fails(err)
	}
	return untaken(err)
}

// fails counts an error of the sink, and logs it when it is the first in a row.
func (s *Service) fails(err error) {
	s.counts.sinkErrors.Add(1)
	if s.now != nil {
		now := s.now()
		s.counts.failed.Store(&now)
	}
	if s.counts.failing.Add(1) == 1 {
		s.log.Error("the sink fails, and batches are answered with 503", "cause", err)
	}
}

// works logs that the sink takes batches again.
func (s *Service) works() {
	if s.counts.failing.Load() > 0 {
		if n := s.counts.failing.Swap(0); n > 0 {
			s.log.Info("the sink works again", "failures", n)
		}
	}
}

// appendLines appends each record of b as a line.
func appendLines(lines []byte, trace string, b Batch, r *Receipt) ([]byte, error) {
	for i := range r.Accepted {
		metadata, err := b.Metadata(i)
		if err != nil {
			return lines, unencodable(i, err)
		}
		if bytes.IndexByte(metadata, '\n') >= 0 {
			return lines, errors.New("an encoder wrote a line end into metadata")
		}
		id, at := b.Head(i)
		lines = appendLine(lines, id, at, trace, metadata)
		r.Bytes += int64(len(metadata))
	}
	return lines, nil
}

func untaken(cause error) error {
	return because(cause, unavailable, "sink", "the batch could not be kept; send it again later")
}

// unsent is of a batch that the spool keeps and sends on. A status that clients try
// again after would duplicate it.
func unsent(cause error) error {
	return because(cause, accepted, "unsent", "the batch is kept, and will be sent on; sending it again duplicates it")
}

func unencodable(i int, cause error) error {
	if r := (*Refusal)(nil); errors.As(cause, &r) {
		return cause
	}
	return because(cause, badRequest, "record", fmt.Sprintf("the metadata of record %d cannot be written as JSON", i+1))
}

// appendLine appends a record as one line of JSON.
func appendLine(b []byte, id string, at time.Time, trace string, metadata []byte) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, id)
	b = append(b, `,"timestamp":"`...)
	if stamped, err := at.AppendText(b); err == nil {
		b = stamped
	} else { // an offset that RFC 3339 cannot say
		b = at.UTC().AppendFormat(b, time.RFC3339Nano)
	}
	if trace != "" {
		b = append(b, `","traceparent":"`...)
		b = append(b, trace...)
	}
	b = append(b, `","metadata":`...)
	b = append(b, metadata...)
	return append(b, "}\n"...)
}

// appendString appends s as JSON. An id mostly has nothing to escape.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // any string can be written
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
