package nethttp

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/tarebench/tare/apps/ingest"
)

// Gob decodes a slice of records. A new encoder must have written body: types first, then the value. Package
// gob is not hardened against hostile input; the service has limited the number of records.
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

// newGobEncoder returns an encoder of one type: the type precedes the first value.
func newGobEncoder() func(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := gob.NewEncoder(&out)
	return func(v any) ([]byte, error) {
		out.Reset()
		err := enc.Encode(v)
		return out.Bytes(), err
	}
}
