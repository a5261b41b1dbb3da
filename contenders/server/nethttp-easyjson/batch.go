package main

import (
	"time"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-easyjson/model"
)

// decodeBatch decodes a body of app ingest. If the service stores metadata as received, the records have raw
// JSON. After an error the batch must not be used.
func decodeBatch(s *ingest.Service, body []byte) (ingest.Batch, error) {
	if !s.Typed() {
		var list model.RawRecords
		err := easyjson.Unmarshal(body, &list)
		records := make([]ingest.RawRecord, len(list))
		for i, r := range list {
			records[i] = ingest.RawRecord(r)
		}
		return ingest.Raws(records), err
	}
	var list model.Records
	err := easyjson.Unmarshal(body, &list)
	return batch(list), err
}

// batch implements [ingest.Batch] with easyjson.
type batch model.Records

var _ ingest.Batch = batch(nil)

func (b batch) Len() int                       { return len(b) }
func (b batch) Head(i int) (string, time.Time) { return b[i].ID, b[i].Timestamp.Time }
func (b batch) Metadata(i int) ([]byte, error) { return easyjson.Marshal(&b[i].Metadata) }
