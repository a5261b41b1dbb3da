// Package model holds the types that msgp generates code for: the fixtures'
// over again, because what is generated are methods. As the leaf is a module of
// its own, it is generated with GOWORK=off.
package model

import "time"

//go:generate go tool msgp -tests=false

// Fields are called as in JSON. Times come back in UTC rather than in the
// machine's zone; written they are msgp's own extension, its default, because
// MessagePack's timestamp (//msgp:newtime) as the last value of a message is
// not known again by msgp v1.6.5 when it decodes into any.
//
//msgp:tag json
//msgp:timezone utc

// Devices is a whole document.
type Devices []Device

// Events is a whole document.
type Events []Event

// Device is the fixture's Device. What its attributes are is found out as each
// is written and read.
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

// Probe is the fixture's Probe.
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
