// Package model holds the types that ffjson generates code for: the fixtures'
// over again, because what is generated are methods. As the leaf is a module
// of its own, it is generated with GOWORK=off.
package model

import "time"

//go:generate go run github.com/pquerna/ffjson -force-regenerate model.go

// Device is the fixture's Device. Its attributes are of any type, for which
// ffjson has no code to generate: encoding/json writes the whole map and reads
// every value of it, in the midst of ffjson's own code.
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
