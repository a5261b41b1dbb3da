package nethttp

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/tarebench/tare/apps/ingest"
)

// Gob decodes a slice of records. A new encoder of encoding/gob must have written body: the types
// first, then the value. The documentation of encoding/gob states that it is not hardened against
// hostile input; the service has checked before that the number of records is within its limit.
func Gob(s *ingest.Service, body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
		return nil, err
	}
	if s.Binary() {
		return ingest.Records(list, newGobEncoder()), nil
	}
	return ingest.Records(list, json.Marshal), nil
}

// newGobEncoder returns a function that encodes values of one type as one stream of encoding/gob: the type
// precedes the first value.
func newGobEncoder() func(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := gob.NewEncoder(&out)
	return func(v any) ([]byte, error) {
		out.Reset()
		err := enc.Encode(v)
		return out.Bytes(), err
	}
}
