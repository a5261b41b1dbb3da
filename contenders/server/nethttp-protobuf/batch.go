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

func decodeProtobuf(_ *ingest.Service, body []byte) (ingest.Batch, error) {
	var batch model.Batch
	if err := proto.Unmarshal(body, &batch); err != nil {
		return nil, err
	}
	list := make([]ingest.Record, len(batch.GetRecords()))
	for i, r := range batch.GetRecords() {
		list[i] = ingest.Record{ID: r.GetId(), Metadata: metadata(r.GetMetadata())}
		if ms := r.GetTimestampMs(); ms != 0 { // a field that is not there is 0 in the bytes
			list[i].Timestamp.Time = time.UnixMilli(ms).UTC()
		}
	}
	return ingest.Records(list, json.Marshal), nil
}

func metadata(m *model.Metadata) ingest.Metadata {
	return ingest.Metadata{
		UserID: m.GetUserId(), SessionID: m.GetSessionId(),
		PageURL: m.GetPageUrl(), Referrer: m.GetReferrer(),
		UserAgent: m.GetUserAgent(), IPAddress: m.GetIpAddress(),
		Country: m.GetCountry(), City: m.GetCity(), Language: m.GetLanguage(),
		ScreenWidth: int(m.GetScreenWidth()), ScreenHeight: int(m.GetScreenHeight()),
		Campaign: m.GetCampaign(), Medium: m.GetMedium(),
		DurationMS: int(m.GetDurationMs()), ScrollDepth: m.GetScrollDepth(),
		LoggedIn: m.GetLoggedIn(), AppVersion: m.GetAppVersion(),
	}
}
