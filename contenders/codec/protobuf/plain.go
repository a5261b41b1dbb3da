package main

import (
	"fmt"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/protobuf/model"
)

// toFixture converts a decoded message for comparison. It is the reverse of loadMessage.
func toFixture(v any) (any, error) {
	switch m := v.(type) {
	case *model.Devices:
		list := make([]fixture.Device, len(m.GetDevices()))
		for i, d := range m.GetDevices() {
			list[i] = fixture.Device{
				ID: d.GetId(), Name: d.GetName(), Type: d.GetType(), State: d.GetState(),
				Attributes:  d.GetAttributes().AsMap(),
				LastUpdated: d.GetLastUpdated().AsTime(),
			}
		}
		return list, nil
	case *model.Events:
		list := make([]fixture.Event, len(m.GetEvents()))
		for i, e := range m.GetEvents() {
			list[i] = fixture.Event{ID: e.GetId(), Timestamp: e.GetTimestamp().AsTime(), Metadata: fromMetadata(e.GetMetadata())}
		}
		return list, nil
	case *model.Probe:
		return fromProbe(m), nil
	}
	return nil, fmt.Errorf("no message of the schema: %T", v)
}

func fromMetadata(m *model.Metadata) fixture.Metadata {
	return fixture.Metadata{
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
