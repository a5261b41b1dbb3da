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

// Raw is an object of JSON as it was sent. Nothing of it is decoded, so nothing is lost: members of
// any name, large integers, members of the same name.
type Raw []byte

var errNoObject = errors.New("metadata is not an object")

// UnmarshalJSON copies an object. It leaves null as it is.
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

// Decoded is a batch that a decoder of JSON fills: its target is for the decoder, and it is passed
// to [Service.Accept] afterwards.
type Decoded struct {
	typed   []Record // of a service that decodes metadata
	raw     []RawRecord
	marshal func(any) ([]byte, error) // nil if raw
	line    bytes.Buffer
}

// Batch returns an empty batch. marshal encodes decoded metadata again and is called with a pointer
// to it; it is used only if the service decodes metadata (see [Config]).
func (s *Service) Batch(marshal func(any) ([]byte, error)) *Decoded {
	if s.typed {
		return &Decoded{marshal: marshal}
	}
	return &Decoded{}
}

// Raws returns a batch of records that were decoded with metadata of any object.
func Raws(list []RawRecord) *Decoded { return &Decoded{raw: list} }

// Typed reports whether metadata is decoded.
func (s *Service) Typed() bool { return s.typed }

// Binary reports whether the metadata of a body in protobuf or gob is encoded again in
// that format.
func (s *Service) Binary() bool { return s.binary }

// Target returns the destination of a decoder: a pointer to a slice of records.
func (d *Decoded) Target() any {
	if d.marshal != nil {
		return &d.typed
	}
	return &d.raw
}

// Len returns how many records were decoded.
func (d *Decoded) Len() int { return len(d.typed) + len(d.raw) }

// Head returns the id and the timestamp of a record.
func (d *Decoded) Head(i int) (string, time.Time) {
	if d.marshal != nil {
		return d.typed[i].ID, d.typed[i].Timestamp.Time
	}
	return d.raw[i].ID, d.raw[i].Timestamp.Time
}

// Metadata returns the metadata of a record: encoded again if it was decoded, otherwise as it was
// sent, without white space. It checks the metadata, because not every decoder checks values that
// it does not decode.
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
