package nethttp

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/tarebench/tare/apps/ingest"
)

// Gob decodes a slice of records that a fresh encoder of encoding/gob has
// written: the types first, then the value. That package says itself that it is
// not made for input from just anybody; how many records there are to be room for
// the service has seen to beforehand.
func Gob(s *ingest.Service, body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
		return nil, err
	}
	if s.Binary() {
		return ingest.Records(list, gobs()), nil
	}
	return ingest.Records(list, json.Marshal), nil
}

// gobs encodes values of one type one after the other, as one stream of encoding/gob:
// the first is preceded by its type.
func gobs() func(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := gob.NewEncoder(&out)
	return func(v any) ([]byte, error) {
		out.Reset()
		err := enc.Encode(v)
		return out.Bytes(), err
	}
}
