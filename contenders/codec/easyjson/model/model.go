// Package model has copies of the fixtures' types (of the test inputs), for which easyjson generates methods.
// They are not in package main, because easyjson rejects it. Run go generate with GOWORK=off, because the
// contender is a separate module.
package model

import "time"

//go:generate go run github.com/mailru/easyjson/easyjson -no_std_marshalers model.go

// Devices is a complete document of the fixture devices.
//
//easyjson:json
type Devices []Device

// Events is a complete document of the fixture events.
//
//easyjson:json
type Events []Event

// Device is the fixture's Device. easyjson generates no code for the attributes,
// whose values are of type any: encoding/json encodes each value of the map, and
// the lexer of easyjson decodes it.
//
//easyjson:json
type Device struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	State       string         `json:"state"`
	Attributes  map[string]any `json:"attributes"`
	LastUpdated time.Time      `json:"last_updated"`
}

// Event is the fixture's Event.
//
//easyjson:json
type Event struct {
	ID        string    `json:"id"`
	Timestamp time.Time `json:"timestamp"`
	Metadata  Metadata  `json:"metadata"`
}

// Metadata is the fixture's Metadata.
//
//easyjson:json
type Metadata struct {
	UserID       string  `json:"user_id"`
	SessionID    string  `json:"session_id"`
	PageURL      string  `json:"page_url"`
	Referrer     string  `json:"referrer"`
	UserAgent    string  `json:"user_agent"`
	IPAddress    string  `json:"ip_address"`
	Country      string  `json:"country"`
	City         string  `json:"city"`
	Language     string  `json:"language"`
	ScreenWidth  int     `json:"screen_width"`
	ScreenHeight int     `json:"screen_height"`
	Campaign     string  `json:"campaign"`
	Medium       string  `json:"medium"`
	DurationMS   int     `json:"duration_ms"`
	ScrollDepth  float64 `json:"scroll_depth"`
	LoggedIn     bool    `json:"logged_in"`
	AppVersion   string  `json:"app_version"`
}

// Probe is the fixture's Probe, which has a field for each type on which codecs differ.
//
//easyjson:json
type Probe struct {
	Text    string         `json:"text"`
	Float   float64        `json:"float"`
	Single  float32        `json:"single"`
	Int     int64          `json:"int"`
	Uint    uint64         `json:"uint"`
	Flag    bool           `json:"flag"`
	Bytes   []byte         `json:"bytes"`
	Counts  map[string]int `json:"counts"`
	List    []string       `json:"list"`
	Any     any            `json:"any"`
	Time    time.Time      `json:"time"`
	Pointer *int           `json:"pointer"`
}

// DevicesFields is a complete document of which only a few fields are read.
//
//easyjson:json
type DevicesFields []DeviceFields

// EventsFields is a complete document of which only a few fields are read.
//
//easyjson:json
type EventsFields []EventFields

// DeviceFields is the fixture's DeviceFields.
//
//easyjson:json
type DeviceFields struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Attributes AttributeFields `json:"attributes"`
}

// AttributeFields is the fixture's AttributeFields.
//
//easyjson:json
type AttributeFields struct {
	Temperature float64 `json:"temperature"`
}

// EventFields is the fixture's EventFields.
//
//easyjson:json
type EventFields struct {
	ID       string         `json:"id"`
	Metadata MetadataFields `json:"metadata"`
}

// MetadataFields is the fixture's MetadataFields.
//
//easyjson:json
type MetadataFields struct {
	Country     string  `json:"country"`
	DurationMS  int     `json:"duration_ms"`
	ScrollDepth float64 `json:"scroll_depth"`
}
