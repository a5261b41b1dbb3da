package main

import (
	"time"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-easyjson/model"
)

func decode(body []byte) (ingest.Batch, error) {
	var list model.Records
	if err := easyjson.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	return batch(list), nil
}

type batch model.Records

var _ ingest.Batch = batch(nil)

func (b batch) Len() int                       { return len(b) }
func (b batch) Head(i int) (string, time.Time) { return b[i].ID, b[i].Timestamp }
func (b batch) Metadata(i int) ([]byte, error) { return easyjson.Marshal(&b[i].Metadata) }
