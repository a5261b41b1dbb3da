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

// Raw is an object of JSON as sent; nil means null or missing. So unknown and repeated members and large
// integers stay.
type Raw []byte

var errNoObject = errors.New("metadata is not an object")

// UnmarshalJSON copies an object into the memory of r; null changes nothing.
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

// Decoded is a [Batch] for a decoder of JSON: pass Target to it. Typed records have decoded metadata, raw ones
// have it as sent.
type Decoded struct {
	marshal func(any) ([]byte, error) // nil for raw records
	typed   []Record                  // empty if marshal is nil
	raw     []RawRecord
	compact bytes.Buffer // last result of Metadata
}

func (d *Decoded) isTyped() bool { return d.marshal != nil }

// Batch returns an empty batch, of typed records if Config.Typed is set. marshal encodes their *Metadata as
// JSON.
func (s *Service) Batch(marshal func(any) ([]byte, error)) *Decoded {
	if s.typed {
		return &Decoded{marshal: marshal}
	}
	return &Decoded{}
}

// Raws returns a batch of raw records that are decoded already. It retains list.
func Raws(list []RawRecord) *Decoded { return &Decoded{raw: list} }

// Typed returns Config.Typed: whether the service decodes metadata.
func (s *Service) Typed() bool { return s.typed }

// Binary returns Config.Binary: metadata of protobuf and gob keeps its format.
func (s *Service) Binary() bool { return s.binary }

// Target returns a *[]Record for typed records, else a *[]RawRecord.
func (d *Decoded) Target() any {
	if d.isTyped() {
		return &d.typed
	}
	return &d.raw
}

// Len returns the number of decoded records.
func (d *Decoded) Len() int { return len(d.typed) + len(d.raw) }

// Head returns the id and the timestamp of record i.
func (d *Decoded) Head(i int) (id string, timestamp time.Time) {
	if d.isTyped() {
		return d.typed[i].ID, d.typed[i].Timestamp.Time
	}
	return d.raw[i].ID, d.raw[i].Timestamp.Time
}

// Metadata returns record i's metadata as JSON. Raw metadata is checked and loses white space: some decoders
// skip values. The next call may overwrite the result.
func (d *Decoded) Metadata(i int) ([]byte, error) {
	if d.isTyped() {
		return d.marshal(&d.typed[i].Metadata)
	}
	raw := d.raw[i].Metadata
	if raw == nil {
		return nil, newRefusal(nil, badRequest, "record", fmt.Sprintf("record %d of %d has no metadata; expected is an object", i+1, d.Len()))
	}
	d.compact.Reset()
	if err := json.Compact(&d.compact, raw); err != nil {
		return nil, newRefusal(err, badRequest, "malformed", fmt.Sprintf("record %d of %d: metadata is not JSON: %v", i+1, d.Len(), err))
	}
	if !utf8.Valid(d.compact.Bytes()) {
		return nil, newRefusal(nil, badRequest, "malformed", fmt.Sprintf("record %d of %d: metadata has text that is not UTF-8", i+1, d.Len()))
	}
	return d.compact.Bytes(), nil
}
