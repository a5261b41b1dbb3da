package main

import (
	"time"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-easyjson/model"
)

func decode(s *ingest.Service, body []byte) (ingest.Batch, error) {
	if !s.Typed() {
		var list model.RawRecords
		err := easyjson.Unmarshal(body, &list)
		out := make([]ingest.RawRecord, len(list))
		for i, r := range list {
			out[i] = ingest.RawRecord(r)
		}
		return ingest.Raws(out), err
	}
	var list model.Records
	err := easyjson.Unmarshal(body, &list)
	return batch(list), err
}

type batch model.Records

var _ ingest.Batch = batch(nil)

func (b batch) Len() int                       { return len(b) }
func (b batch) Head(i int) (string, time.Time) { return b[i].ID, b[i].Timestamp.Time }
func (b batch) Metadata(i int) ([]byte, error) { return easyjson.Marshal(&b[i].Metadata) }
