// Package model has copies of the fixtures' types (of the test inputs), for which ffjson generates methods.
// Run go generate with GOWORK=off, because the contender is a separate module.
package model

import "time"

//go:generate go run github.com/pquerna/ffjson -force-regenerate model.go

// Device is the fixture's Device. Attributes have values of type any. ffjson has encoding/json encode their
// map and decode each value.
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
