package main

import (
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/protobuf/model"
)

// loadMessage decodes canonical JSON of a fixture into a message. A probe (an edge case) may not fit the
// schema: it becomes an unsupportedProbe.
func loadMessage(name string, canonical []byte) (any, error) {
	decoded, err := fixture.Decode(name, canonical)
	if err != nil {
		return nil, err
	}
	switch v := decoded.(type) {
	case []fixture.Device:
		return toDevices(v)
	case []fixture.Event:
		return toEvents(v), nil
	case fixture.Probe:
		m, err := toProbe(v)
		if err != nil {
			return unsupportedProbe{why: err}, nil
		}
		return m, nil
	}
	return nil, contender.ErrUnsupported
}

// findTarget returns a function that makes an empty message to decode into. It returns nil for a fixture without
// a message in the schema.
func findTarget(name string) func() any {
	switch name {
	case "devices":
		return func() any { return new(model.Devices) }
	case "events":
		return func() any { return new(model.Events) }
	case "probes":
		return func() any { return new(model.Probe) }
	}
	return nil
}

// toDevices converts devices to a message. It fails if protobuf's Struct cannot represent an attribute.
func toDevices(list []fixture.Device) (*model.Devices, error) {
	m := &model.Devices{Devices: make([]*model.Device, len(list))}
	for i, d := range list {
		attributes, err := structpb.NewStruct(d.Attributes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.ID, err)
		}
		m.Devices[i] = &model.Device{
			Id:          d.ID,
			Name:        d.Name,
			Type:        d.Type,
			State:       d.State,
			Attributes:  attributes,
			LastUpdated: timestamppb.New(d.LastUpdated),
		}
	}
	return m, nil
}

// toEvents converts events to a message.
func toEvents(list []fixture.Event) *model.Events {
	m := &model.Events{Events: make([]*model.Event, len(list))}
	for i, e := range list {
		d := e.Metadata
		m.Events[i] = &model.Event{Id: e.ID, Timestamp: timestamppb.New(e.Timestamp), Metadata: &model.Metadata{
			UserId: d.UserID, SessionId: d.SessionID,
			PageUrl: d.PageURL, Referrer: d.Referrer,
			UserAgent: d.UserAgent, IpAddress: d.IPAddress,
			Country: d.Country, City: d.City, Language: d.Language,
			ScreenWidth: int64(d.ScreenWidth), ScreenHeight: int64(d.ScreenHeight),
			Campaign: d.Campaign, Medium: d.Medium,
			DurationMs: int64(d.DurationMS), ScrollDepth: d.ScrollDepth,
			LoggedIn: d.LoggedIn, AppVersion: d.AppVersion,
		}}
	}
	return m
}
