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
func Gob(_ *ingest.Service, body []byte) (ingest.Batch, error) {
	var list []ingest.Record
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
		return nil, err
	}
	return ingest.Records(list, json.Marshal), nil
}
