package main

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-protobuf/model"
)

func decodeJSON(s *ingest.Service, body []byte) (ingest.Batch, error) {
	b := s.Batch(json.Marshal)
	return b, json.Unmarshal(body, b.Target())
}

func decodeProtobuf(s *ingest.Service, body []byte) (ingest.Batch, error) {
	var batch model.Batch
	if err := proto.Unmarshal(body, &batch); err != nil {
		return nil, err
	}
	if s.Binary() {
		return &messages{records: batch.GetRecords()}, nil
	}
	list := make([]ingest.Record, len(batch.GetRecords()))
	for i, r := range batch.GetRecords() {
		list[i] = ingest.Record{ID: r.GetId(), Metadata: metadata(r.GetMetadata())}
		list[i].Timestamp.Time = timestamp(r)
	}
	return ingest.Records(list, json.Marshal), nil
}

// messages is a batch whose metadata is written as protobuf again.
type messages struct {
	records []*model.Record
	line    []byte
}

func (m *messages) Len() int { return len(m.records) }

func (m *messages) Head(i int) (string, time.Time) {
	return m.records[i].GetId(), timestamp(m.records[i])
}

func (m *messages) Metadata(i int) ([]byte, error) {
	var err error
	m.line, err = proto.MarshalOptions{}.MarshalAppend(m.line[:0], m.records[i].GetMetadata())
	return m.line, err
}

// timestamp is the time of a record. A field that is not there is 0 in the bytes.
func timestamp(r *model.Record) time.Time {
	if ms := r.GetTimestampMs(); ms != 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

func metadata(m *model.Metadata) ingest.Metadata {
	return ingest.Metadata{
		Index:      int(m.GetIndex()),
		GUID:       m.GetGuid(),
		IsActive:   m.GetIsActive(),
		Balance:    m.GetBalance(),
		Picture:    m.GetPicture(),
		Age:        int(m.GetAge()),
		EyeColor:   m.GetEyeColor(),
		Name:       m.GetName(),
		Gender:     m.GetGender(),
		Company:    m.GetCompany(),
		Email:      m.GetEmail(),
		Phone:      m.GetPhone(),
		Address:    m.GetAddress(),
		About:      m.GetAbout(),
		Registered: m.GetRegistered(),
		Latitude:   m.GetLatitude(),
		Longitude:  m.GetLongitude(),
	}
}
