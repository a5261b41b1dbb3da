// Package model has copies of the fixtures' types (of the test inputs), for which msgp generates methods. Run
// go generate with GOWORK=off, because the contender is a separate module.
package model

import "time"

//go:generate go tool msgp -tests=false

// Fields have the same names as in JSON. Generated code decodes times in UTC, not in
// the machine's time zone. It encodes times as an extension of msgp, which is the
// default: if the timestamp of MessagePack (//msgp:newtime) is the last value of a
// message, msgp v1.6.5 does not recognize it when it decodes into any.
//
//msgp:tag json
//msgp:timezone utc

// Devices is a complete document of the fixture devices.
type Devices []Device

// Events is a complete document of the fixture events.
type Events []Event

// Device is the fixture's Device. Types of attributes are found at run time.
type Device struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	State       string         `json:"state"`
	Attributes  map[string]any `json:"attributes"`
	LastUpdated time.Time      `json:"last_updated"`
}

// Event is the fixture's Event.
type Event struct {
	ID        string    `json:"id"`
	Timestamp time.Time `json:"timestamp"`
	Metadata  Metadata  `json:"metadata"`
}

// Metadata is the fixture's Metadata.
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

// Probe is the fixture's Probe: a field for each type on which codecs differ.
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
