package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// RawRecord is an event whose metadata is any object.
type RawRecord struct {
	ID        string `json:"id"`
	Timestamp Time   `json:"timestamp"`
	Metadata  Raw    `json:"metadata"`
}

// Raw is an object of JSON as it was sent. It is not decoded, so members with unknown names, members
// with the same name and large integers are preserved.
type Raw []byte

var errNoObject = errors.New("metadata is not an object")

// UnmarshalJSON copies text, which must be an object. For null it leaves r unchanged.
func (r *Raw) UnmarshalJSON(text []byte) error {
	switch {
	case string(text) == "null":
		return nil
	case len(text) == 0 || text[0] != '{':
		return errNoObject
	}
	*r = append((*r)[:0], text...)
	return nil
}

// Decoded is a [Batch] that a decoder of JSON fills. A stack passes the result of Target to its
// decoder, and then the batch to [Service.Accept].
type Decoded struct {
	marshal func(any) ([]byte, error) // nil if the records are raw
	typed   []Record                  // the records if marshal is not nil
	raw     []RawRecord               // the records if marshal is nil
	line    bytes.Buffer              // result of Metadata, if the records are raw
}

// Batch returns an empty batch. marshal encodes metadata as JSON; its argument is a *Metadata. It is
// called only if Config.Typed is set.
func (s *Service) Batch(marshal func(any) ([]byte, error)) *Decoded {
	if s.typed {
		return &Decoded{marshal: marshal}
	}
	return &Decoded{}
}

// Raws returns a batch of decoded records whose metadata is any object.
func Raws(list []RawRecord) *Decoded { return &Decoded{raw: list} }

// Typed returns Config.Typed: whether the service decodes metadata.
func (s *Service) Typed() bool { return s.typed }

// Binary returns Config.Binary: whether the service encodes metadata from protobuf and gob again in
// the same format.
func (s *Service) Binary() bool { return s.binary }

// Target returns the destination for a decoder: a pointer to a slice of records.
func (d *Decoded) Target() any {
	if d.marshal != nil {
		return &d.typed
	}
	return &d.raw
}

// Len returns the number of decoded records.
func (d *Decoded) Len() int { return len(d.typed) + len(d.raw) }

// Head returns the id and the timestamp of a record.
func (d *Decoded) Head(i int) (string, time.Time) {
	if d.marshal != nil {
		return d.typed[i].ID, d.typed[i].Timestamp.Time
	}
	return d.raw[i].ID, d.raw[i].Timestamp.Time
}

// Metadata returns the metadata of a record. If the service decodes metadata, Metadata encodes it
// again. Otherwise the result is the metadata as sent, without white space; Metadata checks that it
// is valid, because some decoders do not check values that they do not decode.
func (d *Decoded) Metadata(i int) ([]byte, error) {
	if d.marshal != nil {
		return d.marshal(&d.typed[i].Metadata)
	}
	raw := d.raw[i].Metadata
	if raw == nil {
		return nil, newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no metadata; expected is an object", i+1, d.Len()))
	}
	d.line.Reset()
	if err := json.Compact(&d.line, raw); err != nil {
		return nil, newRefusal(err, badRequest, "malformed", fmt.Sprintf("record %d of %d: metadata is not JSON: %v", i+1, d.Len(), err))
	}
	if !utf8.Valid(d.line.Bytes()) {
		return nil, newRefusal(nil, badRequest, "malformed", fmt.Sprintf("record %d of %d: metadata has text that is not UTF-8", i+1, d.Len()))
	}
	return d.line.Bytes(), nil
}
