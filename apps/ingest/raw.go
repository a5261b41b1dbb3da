package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// This file decodes the records of a batch, either with their metadata as it was sent or decoded into fields.

// RawRecord is an event whose metadata is any object.
type RawRecord struct {
	ID        string `json:"id"`
	Timestamp Time   `json:"timestamp"`
	Metadata  Raw    `json:"metadata"`
}

// Raw is an object of JSON as it was sent; nil if it was null or missing. It is not decoded, so members
// with unknown names, members with the same name and large integers are preserved.
type Raw []byte

// errNoObject is the error of metadata that is a text, a number or an array.
var errNoObject = errors.New("metadata is not an object")

// UnmarshalJSON copies text, which must be an object, into the memory of r. For null it leaves r
// unchanged.
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
// decoder, and then the batch to [Service.Accept]. The records are either typed, with decoded metadata,
// or raw, with metadata as sent.
type Decoded struct {
	marshal func(any) ([]byte, error) // encodes the metadata of typed records; nil if the records are raw
	typed   []Record                  // the records if marshal is not nil
	raw     []RawRecord               // the records if marshal is nil
	compact bytes.Buffer              // last result of Metadata, if the records are raw; the next call overwrites it
}

// isTyped reports whether the records have decoded metadata.
func (d *Decoded) isTyped() bool { return d.marshal != nil }

// Batch returns an empty batch: of typed records if Config.Typed is set, else of raw records, which do
// not need marshal. marshal encodes metadata as JSON; its argument is a *Metadata.
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

// Binary returns Config.Binary: whether the service encodes metadata from protobuf and gob again in
// the same format.
func (s *Service) Binary() bool { return s.binary }

// Target returns the destination for a decoder: a *[]Record if the records are typed, else a
// *[]RawRecord.
func (d *Decoded) Target() any {
	if d.isTyped() {
		return &d.typed
	}
	return &d.raw
}

// Len returns the number of decoded records.
func (d *Decoded) Len() int { return len(d.typed) + len(d.raw) } // one of them is empty

// Head returns the id and the timestamp of record i.
func (d *Decoded) Head(i int) (id string, timestamp time.Time) {
	if d.isTyped() {
		return d.typed[i].ID, d.typed[i].Timestamp.Time
	}
	return d.raw[i].ID, d.raw[i].Timestamp.Time
}

// Metadata returns the metadata of record i as JSON. It encodes typed metadata again. It returns raw
// metadata as sent, without white space, after it has checked that the metadata is valid, because some
// decoders do not check values that they do not decode. The next call may overwrite the result.
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
